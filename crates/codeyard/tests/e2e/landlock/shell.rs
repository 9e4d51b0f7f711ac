//! Programs in bash without namespaces, with the same tools, files, limits and confinement as other languages.

use serde_json::json;
use test_support::CodeClient;

use super::codeyard;
use crate::shell::endings::check_late_signals;
use crate::shell::{check, check_fails, run};

async fn client(limits: &str) -> CodeClient {
    CodeClient::of(codeyard().settings(&format!("[limits]\n{limits}"))).await
}

#[tokio::test]
async fn programs_in_bash_call_tools_and_keep_their_state() {
    let mut client = client("").await;
    let client = &mut client;
    run(client, "x=1; f() { echo f$x; }; mkdir sub; cd sub").await;
    check(client, "f; basename $PWD", "f1\nsub\n").await;
    check(client, "mcp call stub.add a=1 b=2", "{\"sum\":3}\n").await;
    // Without control groups a session has 16 processes.
    let many = "for n in $(seq 10); do mcp call stub.add a=$n b=0 & done | wc -l";
    check(client, many, "10\n").await;
    check_fails(client, "x=2; exit 3", 3, &[]).await;
    check(client, "f", "f2\n").await;
    check_fails(client, "x=3; kill -9 $BASHPID", 137, &[]).await;
    check(client, "f", "f2\n").await;
    check(
        client,
        "diff <(echo a) <(echo a) && echo same; echo err >/dev/stderr",
        "same\n",
    )
    .await;
    let ran = run(client, "mcp call stub.ad").await;
    assert_eq!(ran.status(), "refused", "{ran:?}");
}

#[tokio::test]
async fn no_process_continues_after_a_run_and_interrupts_keep_the_session() {
    let mut client = client("").await;
    let client = &mut client;
    check(client, "kept=before", "").await;
    for code in [
        "(sleep 1; echo late > late) &",
        "setsid sh -c 'trap \"\" INT TERM HUP; sleep 1; echo late > late' &",
    ] {
        check(client, code, "").await;
        check(client, "sleep 1.2; ls", "").await;
    }
    for code in [
        "sleep 60",
        "while :; do :; done",
        "sleep 60 | cat",
        "mcp call stub.slow seconds=60",
    ] {
        let asked = json!({"code": code, "language": "shell", "timeout_ms": 500});
        let ran = client.execute(asked).await;
        assert_eq!(ran.status(), "timed_out", "{code}\n{ran:?}");
        check(client, "echo $kept", "before\n").await;
    }
}

#[tokio::test]
async fn signals_after_the_end_of_a_program_do_not_end_the_shell() {
    check_late_signals(&mut client("").await).await;
}

#[tokio::test]
async fn files_of_the_host_are_out_of_reach() {
    let mut client = client("").await;
    let client = &mut client;
    for code in [
        "cat /etc/shadow",
        "ls /root",
        "cat /proc/1/environ",
        "ls /home",
        "echo > /etc/made",
        "mkfifo /workspace/p",
    ] {
        let ran = run(client, code).await;
        assert_eq!(ran.status(), "failed", "{code}\n{ran:?}");
    }
}
