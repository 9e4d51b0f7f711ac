//! `jq` and `rg`, which Codeyard provides if the machine has none.

use test_support::CodeClient;

use super::check;

#[tokio::test]
async fn json_is_filtered() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    check(
        client,
        "echo '{\"a\": [1, {\"b\": \"c\"}]}' | jq -r '.a[1].b'",
        "c\n",
    )
    .await;
    check(client, "echo '[1,2,3]' | jq -c 'map(. * 2)'", "[2,4,6]\n").await;
    check(client, "jq -n --arg x 5 '{x: $x}' | jq -c .", "{\"x\":\"5\"}\n").await;
}

/// This machine's own `rg` behaves the same for these.
#[tokio::test]
async fn files_are_searched() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    check(
        client,
        "mkdir -p src/deep .hidden; echo 'fn Main' > src/a.rs; printf 'one\\ntwo main\\nthree\\n' > src/deep/b.txt; echo main > .hidden/c",
        "",
    )
    .await;
    check(client, "rg main | sort", "src/deep/b.txt:two main\n").await;
    check(
        client,
        "rg -in main src | sort",
        "src/a.rs:1:fn Main\nsrc/deep/b.txt:2:two main\n",
    )
    .await;
    check(client, "rg -l -i main . | sort", "src/a.rs\nsrc/deep/b.txt\n").await;
    check(client, "rg -c main src/deep/b.txt", "1\n").await;
    check(client, "cat src/deep/b.txt | rg -o 'm.*n'", "main\n").await;
    check(client, "rg -A1 main src/deep/b.txt", "two main\nthree\n").await;
    check(client, "rg -t rust -i main", "src/a.rs:fn Main\n").await;
    check(client, "rg -g '*.txt' --files", "src/deep/b.txt\n").await;
    check(client, "rg --hidden main .hidden", ".hidden/c:main\n").await;
    check(client, "rg nothing; echo $?", "1\n").await;
    check(client, "rg '(' 2>/dev/null; echo $?", "2\n").await;
}
