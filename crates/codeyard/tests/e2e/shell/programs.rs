//! `jq` and `rg`, which Codeyard brings where the machine has none.

use test_support::CodeClient;

use super::check;

#[tokio::test]
async fn json_is_filtered() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    check(client, "echo '{\"a\": [1, {\"b\": \"c\"}]}' | jq -r '.a[1].b'", "c\n").await;
    check(client, "echo '[1,2,3]' | jq -c 'map(. * 2)'", "[2,4,6]\n").await;
    check(client, "jq -n --arg x 5 '{x: $x}' | jq -c .", "{\"x\":\"5\"}\n").await;
}
