//! After a run, only the shell stays alive.

use serde_json::json;
use test_support::CodeClient;

use super::{check, run};

/// Checks a run's end after half a second, and that its session keeps its variables.
async fn check_interrupted(client: &mut CodeClient, code: &str) {
    let asked = json!({"code": code, "language": "shell", "timeout_ms": 500});
    let ran = client.execute(asked).await;
    assert_eq!(ran.status(), "timed_out", "{code}\n{ran:?}");
    assert_ne!(ran.fields()["session_state"], "lost", "{code}");
    check(client, "echo $kept", "before\n").await;
}

#[tokio::test]
async fn an_interrupted_session_keeps_its_variables() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    check(client, "kept=before", "").await;
    for code in [
        "sleep 60",
        "while :; do :; done",
        "sleep 60; echo never; sleep 60",
        "sleep 60 | cat",
        "echo $(sleep 60)",
        "sleep 60 & wait",
        "yes > /dev/null",
        "mcp call stub.slow seconds=60",
        "(trap '' INT TERM; while :; do sleep 1; done)",
        "bash -c \"trap '' INT; while :; do :; done\"",
        "set -m; sleep 60",
        "trap '' INT TERM HUP; while :; do :; done",
        "trap 'echo no' INT TERM EXIT; while :; do sleep 1; done",
        "read -r line < <(sleep 60)",
        "setsid sleep 60",
    ] {
        check_interrupted(client, code).await;
    }
}

#[tokio::test]
async fn no_process_continues_after_a_run() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    for code in [
        "sleep 100 &",
        "nohup sleep 100 >/dev/null 2>&1 &",
        "setsid sleep 100 &",
        "(setsid sh -c 'trap \"\" INT TERM HUP; sleep 100' &) &",
        "coproc sleep 100",
        "for n in {1..3}; do (sleep 100 & sleep 100) & done",
        "bash -c 'while :; do sleep 100 & sleep 0.001; done' &",
    ] {
        check(client, &format!("{code}\nx=set"), "").await;
        check(
            client,
            "cat /proc/[0-9]*/comm | grep -c sleep; echo $x; unset x",
            "0\nset\n",
        )
        .await;
    }
}

/// Programs that leave a signal behind, which reaches the shell around the end of the run.
pub async fn check_late_signals(client: &mut CodeClient) {
    check(client, "kept=before", "").await;
    for signal in ["INT", "TERM", "HUP"] {
        let late =
            format!("shell=$BASHPID; (sleep 0.00$((RANDOM % 10)); kill -{signal} $shell) & sleep 0.005");
        for _ in 0..20 {
            let ran = run(client, &late).await;
            assert_ne!(ran.fields()["session_state"], "lost", "{signal}\n{ran:?}");
            check(client, "echo $kept", "before\n").await;
        }
    }
}

#[tokio::test]
async fn signals_after_the_end_of_a_program_do_not_end_the_shell() {
    check_late_signals(&mut CodeClient::with_stub().await).await;
}

#[tokio::test]
async fn long_output_is_cut_and_kept_in_a_file() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    let ran = run(client, "seq 1000000").await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    assert!(
        ran.stdout().contains("/results/stdout-sh"),
        "{}",
        &ran.stdout()[..200]
    );
    let lines = "wc -l < $(ls /results/stdout-sh*.txt | head -1)";
    check(client, lines, "1000000\n").await;
    let ran = run(client, "head -c 100000000 /dev/zero | tr '\\0' x").await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    let ran = run(client, "head -c 300 /dev/urandom; printf '\\xff\\xfe\\x00'").await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    check(client, "echo after", "after\n").await;
}

#[tokio::test]
async fn endless_output_ends_with_its_run() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    check(client, "kept=before", "").await;
    for code in [
        "yes",
        "yes & yes >&2 & wait",
        "(trap '' INT TERM; exec yes)",
        "trap '' INT TERM; while :; do echo endless; done",
        "while :; do mcp call stub.add a=1 b=1; done",
    ] {
        check_interrupted(client, code).await;
    }
    let pipes = format!("echo x {}", "| cat ".repeat(10_000));
    let ran = run(client, &pipes).await;
    assert_ne!(ran.status(), "completed", "10,000 pipes");
    check(client, "echo next", "next\n").await;
}
