//! Limits of a session bind its shell and everything that the shell starts.

use serde_json::json;
use test_support::{CodeClient, Codeyard};

use super::{check, run};

async fn with_limits(limits: &str) -> CodeClient {
    let codeyard = Codeyard::with_stub().unwrap();
    CodeClient::of(codeyard.settings(&format!("[limits]\n{limits}"))).await
}

/// Checks that a program fails with this text on standard error or in the error, and that its session still works.
async fn check_bound(limits: &str, code: &str, expected: &str) {
    let mut client = with_limits(limits).await;
    let client = &mut client;
    let ran = run(client, code).await;
    let said = format!("{} {} {}", ran.fields()["stderr"], ran.error(), ran.stdout());
    assert!(said.contains(expected), "{limits}: {code}\n{ran:?}");
    check(client, "echo next", "next\n").await;
}

#[tokio::test]
async fn every_limit_binds() {
    check_bound("cpu_time = \"1 s\"", "while :; do :; done", "CPU time").await;
    check_bound(
        "processes = 20",
        "for i in $(seq 100); do sleep 1 & done; wait",
        "Resource temporarily unavailable",
    )
    .await;
    check_bound(
        "open_files = 64",
        "for i in $(seq 100); do exec {fd}</dev/null || break; done; exit 1",
        "Too many open files",
    )
    .await;
    check_bound(
        "file_size = \"1 MiB\"",
        "head -c 2000000 /dev/zero > big; ls -l big; exit 1",
        "1048576",
    )
    .await;
    check_bound(
        "disk = \"8 MiB\"",
        "head -c 20000000 /dev/zero > /tmp/big; exit 1",
        "No space left on device",
    )
    .await;
    check_bound(
        "host_calls = 3",
        "for i in 1 2 3 4; do mcp call stub.add a=1 b=1; done; exit 1",
        "has made its 3 host calls",
    )
    .await;
}

/// In a session with a full file system, a program can free space, even a long one.
#[tokio::test]
async fn a_full_session_still_works() {
    let mut client = with_limits("disk = \"8 MiB\"").await;
    let client = &mut client;
    let _ = run(
        client,
        "rm -rf /tmp/.codeyard; head -c 20000000 /dev/zero > /tmp/big",
    )
    .await;
    check(client, &format!("# {}\necho long", "x".repeat(100_000)), "long\n").await;
    let _ = run(client, "rm /tmp/big; mcp call stub.add a=1 b=2").await;
    check(client, "mcp call stub.add a=1 b=2", "{\"sum\":3}\n").await;
}

#[tokio::test]
async fn memory_is_bound() {
    let mut client = with_limits("memory = \"128 MiB\"").await;
    let client = &mut client;
    let ran = run(
        client,
        "x=$(head -c 500000000 /dev/zero | tr '\\0' x); echo ${#x}",
    )
    .await;
    assert_ne!(ran.status(), "completed", "{ran:?}");
    check(client, "echo next", "next\n").await;
    let ran = run(client, "head -c 500000000 /dev/zero | tail -c 400000000 | wc -c").await;
    assert!(!ran.stdout().contains("400000000"), "{ran:?}");
    check(client, "echo next", "next\n").await;
}

#[tokio::test]
async fn a_fork_bomb_ends_with_its_run() {
    let mut client = with_limits("processes = 50").await;
    let client = &mut client;
    let asked = json!({"code": "b() { b | b & }; b; sleep 30", "language": "shell", "timeout_ms": 1000});
    let ran = client.execute(asked).await;
    assert_ne!(ran.status(), "completed", "{ran:?}");
    check(client, "echo next", "next\n").await;
}
