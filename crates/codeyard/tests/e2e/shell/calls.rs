//! Calls of tools from a shell.

use serde_json::json;
use test_support::CodeClient;

use super::{check, check_fails, run};

#[tokio::test]
async fn arguments_are_words_or_json() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    check(client, "mcp call stub.add a=1 b=2", "{\"sum\":3}\n").await;
    check(
        client,
        "mcp call stub.add '{\"a\": 1, \"b\": 2}'",
        "{\"sum\":3}\n",
    )
    .await;
    check(client, "mcp call stub.add '{\"a\": 1}' b=2", "{\"sum\":3}\n").await;
    check(
        client,
        "echo '{\"a\": 1, \"b\": 2}' | mcp call stub.add -",
        "{\"sum\":3}\n",
    )
    .await;
    check(client, "n=40; mcp call stub.add a=$n b=2", "{\"sum\":42}\n").await;
    check(
        client,
        "for n in 1 2 3; do mcp call stub.add a=$n b=1; done | jq .sum | paste -sd,",
        "2,3,4\n",
    )
    .await;
    check(client, "mcp call --raw stub.add a=1 b=2 | grep -c content", "1\n").await;
    check(
        client,
        "x=$(mcp call stub.add a=1 b=2); echo \"[$x]\"",
        "[{\"sum\":3}]\n",
    )
    .await;
}

#[tokio::test]
async fn calls_work_from_any_process() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    check(client, "(mcp call stub.add a=1 b=2) | cat", "{\"sum\":3}\n").await;
    check(
        client,
        "echo 'a=5 b=6' | xargs mcp call stub.add",
        "{\"sum\":11}\n",
    )
    .await;
    check(
        client,
        "env -i /opt/codeyard/programs/mcp call stub.add a=1 b=2",
        "{\"sum\":3}\n",
    )
    .await;
    check(client, "bash -c 'mcp call stub.add a=1 b=2'", "{\"sum\":3}\n").await;
    check(
        client,
        "cd /; exec 9<&0; mcp call stub.add a=1 b=2 9<&-; cd",
        "{\"sum\":3}\n",
    )
    .await;
    let many = "for n in $(seq 20); do mcp call stub.add a=$n b=0 & done | jq .sum | sort -n | paste -sd+";
    let expected: Vec<String> = (1..=20).map(|n| n.to_string()).collect();
    check(client, many, &format!("{}\n", expected.join("+"))).await;
}

#[tokio::test]
async fn calls_run_in_parallel() {
    let mut client = CodeClient::with_stub().await;
    let code = "s=$(date +%s%N); for n in 1 2 3 4; do mcp call stub.slow seconds=0.4 >/dev/null & done; wait\n\
                (( $(date +%s%N) - s < 1400000000 )) && echo parallel";
    check(&mut client, code, "parallel\n").await;
}

#[tokio::test]
async fn large_arguments_and_results_pass() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    let code = "text=$(head -c 200000 /dev/zero | tr '\\0' x)\n\
                printf '{\"message\": \"%s\"}' \"$text\" | mcp call stub.echo - | wc -c";
    let ran = run(client, code).await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    let counted: u64 = ran.stdout().trim().parse().unwrap();
    assert!(counted > 200_000, "{ran:?}");
}

#[tokio::test]
async fn errors_are_printed_and_counted() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    check_fails(
        client,
        "mcp call stub.fail message=nope",
        1,
        &["mcp: stub.fail: nope"],
    )
    .await;
    check(
        client,
        "mcp call stub.fail message=nope 2>/dev/null || echo caught",
        "caught\n",
    )
    .await;
    check_fails(client, "mcp get", 2, &["`mcp get` does not exist"]).await;
    check_fails(client, "t=nothing; mcp call stub.$t", 1, &["mcp: ", "nothing"]).await;
    check_fails(client, "v=x; mcp call stub.add a=$v b=1", 1, &["'a'"]).await;
    check_fails(client, "w=a; mcp call stub.add $w", 2, &["expected key=value"]).await;
}

#[tokio::test]
async fn tools_are_found_and_shown() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    let ran = run(client, "mcp search add numbers").await;
    assert!(
        ran.stdout().contains("mcp call stub.add a=<number> b=<number>"),
        "{ran:?}"
    );
    let ran = run(client, "mcp show stub.add").await;
    assert!(
        ran.stdout()
            .starts_with("mcp call stub.add a=<number> b=<number>\n"),
        "{ran:?}"
    );
    let ran = run(client, "mcp --help; mcp; mcp call --help").await;
    assert_eq!(ran.stdout().matches("Exit status:").count(), 3, "{ran:?}");
    let ran = run(client, "mcp manual").await;
    assert!(ran.stdout().starts_with("# Codeyard"), "{ran:?}");
    check_fails(client, "mcp show stub.nothing", 1, &["nothing"]).await;
}

#[tokio::test]
async fn wrong_calls_are_refused_before_the_run() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    for (call, expected) in [
        (
            "mcp call stub.ad a=1 b=2",
            "mcp call stub.ad does not exist; write mcp call stub.add a=<number> b=<number>",
        ),
        ("mcp call stab.add a=1 b=2", "there is no server 'stab'"),
        ("mcp call stub.add a=1", "missing required argument 'b'"),
        ("mcp call stub.add '{\"a\": 1}'", "missing required argument 'b'"),
        ("mcp call stub.add a=x b=2", "argument 'a' must be"),
        ("mcp call stub.add a=1 b=true", "argument 'b' must be"),
        ("echo $(mcp call stub.ad a=1)", "mcp call stub.ad does not exist"),
        (
            "mcp call stub.add value",
            "takes words like key=value or one JSON object, not other words",
        ),
        ("mcp call stub.add {\"a\":1}", "text that is not JSON"),
    ] {
        let ran = run(client, &format!("touch made\n{call}")).await;
        assert_eq!(ran.status(), "refused", "{call}\n{ran:?}");
        assert!(
            ran.error().contains(expected) && ran.error().contains("line 2"),
            "{call}\n{}",
            ran.error()
        );
        check(client, "ls", "").await;
    }
    let warned = json!({"code": "mcp call stub.ad", "language": "shell", "check": "warn"});
    let ran = client.execute(warned).await;
    assert_eq!(ran.status(), "failed", "{ran:?}");
    check(
        client,
        "mcp call stub.ad 2>/dev/null || echo expected",
        "expected\n",
    )
    .await;
    check(
        client,
        "mcp() { echo own $2; }; mcp call stub.ad",
        "own stub.ad\n",
    )
    .await;
    check(client, "mcp call stub.ad; unset -f mcp", "own stub.ad\n").await;
}

/// Malformed requests in the FIFO affect only the session that wrote them.
#[tokio::test]
async fn rubbish_in_the_requests_is_ignored() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    for code in [
        "echo rubbish > $CODEYARD_REQUESTS/requests",
        "head -c 1000000 /dev/urandom > $CODEYARD_REQUESTS/requests",
        "echo '{\"answer\":\"../../etc/x\",\"name\":\"tool\",\"args\":{}}' > $CODEYARD_REQUESTS/requests",
        "echo '{\"answer\":\"none\",\"name\":\"tool\",\"args\":{}}' > $CODEYARD_REQUESTS/requests",
        "echo '{\"answer\":\"none\",\"name\":\"check\",\"args\":{}}' > $CODEYARD_REQUESTS/requests",
        "ln -s /dev/zero $CODEYARD_REQUESTS/big.args; echo '{\"answer\":\"big\",\"name\":\"tool\"}' > $CODEYARD_REQUESTS/requests",
        "rm -rf $CODEYARD_REQUESTS; mkdir $CODEYARD_REQUESTS",
        "rm -rf $CODEYARD_REQUESTS; touch $CODEYARD_REQUESTS",
        "rm -rf $CODEYARD_REQUESTS; ln -s / $CODEYARD_REQUESTS",
        "rm -rf $CODEYARD_REQUESTS/requests; mkdir $CODEYARD_REQUESTS/requests",
        "printf 'turn 0 1\\nturn x\\ncopy\\n' >&$((codeyard_reports))",
    ] {
        let _ = run(client, code).await;
        check(client, "mcp call stub.add a=1 b=2", "{\"sum\":3}\n").await;
    }
}
