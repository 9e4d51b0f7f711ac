//! State that lasts through a session, and state that does not.

use std::time::Duration;

use serde_json::json;
use test_support::{CodeClient, Codeyard, descendants};

use super::{check, check_fails, run};

#[tokio::test]
async fn variables_and_functions_last_through_a_session() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    check(client, "pwd; echo $0", "/workspace\nprogram\n").await;
    run(
        client,
        "x=5; list=(a 'b c'); declare -A map=([k]=v); export shown=yes\nf() { echo \"f $1 $x\"; }\nalias hi='echo hello'\n\
         mkdir -p sub; cd sub; set -o pipefail; shopt -s nullglob",
    )
    .await;
    check(
        client,
        "f a; echo \"${list[1]} ${map[k]}\"; hi; pwd",
        "f a 5\nb c v\nhello\n/workspace/sub\n",
    )
    .await;
    check(
        client,
        "env | grep ^shown; shopt -q nullglob && echo on; false | true || echo failed",
        "shown=yes\non\nfailed\n",
    )
    .await;
    check(client, "x=$((x + 1)); unset list", "").await;
    check(client, "echo $x ${#list[@]}; cd ~-; pwd", "6 0\n/workspace\n").await;
}

#[tokio::test]
async fn a_program_that_exits_keeps_its_session() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    run(client, "x=1; f() { echo f$x; }; cd /tmp").await;
    check_fails(client, "x=2; exit 3", 3, &[]).await;
    check(client, "f; pwd", "f2\n/tmp\n").await;
    check(client, "x=3; exit 0; echo never", "").await;
    check(client, "f", "f3\n").await;
    check_fails(
        client,
        "die() { echo \"$1\" >&2; exit 9; }; x=4; die dying",
        9,
        &["dying"],
    )
    .await;
    check(client, "f; declare -A later=([a]=1)", "f4\n").await;
    check(client, "echo ${later[a]}", "1\n").await;
    check_fails(client, "set -e; x=5; false; echo never", 1, &[]).await;
    check(
        client,
        "case $- in *e*) echo still set ;; esac; set +e; f",
        "still set\nf5\n",
    )
    .await;
    check_fails(
        client,
        "set -u; echo $unset; echo never",
        1,
        &["program: line 1: unset: unbound variable"],
    )
    .await;
    check(client, "set +u; f", "f5\n").await;
    check_fails(client, "x=6; echo ${no:?is missing}", 1, &["no: is missing"]).await;
    check(client, "f", "f6\n").await;
    check_fails(client, "x=7; kill -TERM $BASHPID; sleep 5", 143, &[]).await;
    check(client, "f", "f7\n").await;
}

/// A program that ends the shell itself; the session keeps its earlier state.
#[tokio::test]
async fn a_shell_that_is_replaced_is_restored() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    run(client, "x=1; f() { echo f$x; }").await;
    let restored = "variables, functions and the directory are those from before it";
    let ran = run(client, "x=2; exec echo replaced").await;
    assert_eq!(
        (ran.status(), ran.stdout()),
        ("completed", "replaced\n"),
        "{ran:?}"
    );
    assert!(
        ran.fields()["stderr"].as_str().unwrap().contains(restored),
        "{ran:?}"
    );
    check(client, "f", "f1\n").await;
    check_fails(client, "x=2; kill -9 $BASHPID", 137, &[restored]).await;
    check(client, "f", "f1\n").await;
    check_fails(client, "trap 'echo last words' EXIT; x=2; exit 4", 4, &[restored]).await;
    check(client, "f", "f1\n").await;
    check(client, "exec 3>&1; echo three >&3; exec 3>&-", "three\n").await;
}

#[tokio::test]
async fn traps_are_the_programs_own() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    check(client, "trap 'echo bye' EXIT; x=1; echo mid", "mid\nbye\n").await;
    check(
        client,
        "echo $x; trap -p INT TERM EXIT | grep bye || echo none",
        "1\nnone\n",
    )
    .await;
}

#[tokio::test]
async fn languages_share_files_and_not_variables() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    check(client, "mkdir data; echo '{\"n\": 1}' > data/a.json; x=shell", "").await;
    let ran = client
        .run("import json\nx = json.load(open('data/a.json'))['n']\nx")
        .await;
    assert_eq!(ran.result(), &json!(1), "{ran:?}");
    check(client, "echo $x", "shell\n").await;
    let ran = run(client, "echo one > made.txt; echo two > /results/two.txt").await;
    let files = ran.fields()["files"].to_string();
    assert!(
        files.contains("/workspace/made.txt") && files.contains("/results/two.txt"),
        "{ran:?}"
    );
}

#[tokio::test]
async fn sessions_are_separate() {
    let mut client = CodeClient::with_stub().await;
    for name in ["left", "right"] {
        let asked =
            json!({"code": format!("x={name}; echo $x > /tmp/x"), "language": "shell", "session": name});
        assert_eq!(client.execute(asked).await.status(), "completed");
    }
    for name in ["left", "right"] {
        let asked = json!({"code": "echo $x; cat /tmp/x", "language": "bash", "session": name});
        assert_eq!(client.execute(asked).await.stdout(), format!("{name}\n{name}\n"));
    }
}

#[tokio::test]
async fn the_command_line_runs_files_and_text() {
    let codeyard = Codeyard::with_stub().unwrap();
    let file = codeyard.work_directory().join("sum.sh");
    std::fs::write(
        &file,
        "#!/bin/bash\nset -euo pipefail\nmcp call stub.add a=1 b=2\n",
    )
    .unwrap();
    check_command(&codeyard, &[file.to_str().unwrap()], (0, "{\"sum\":3}\n", "")).await;
    let text = "echo out; echo err >&2; exit 3";
    check_command(
        &codeyard,
        &["--language", "shell", "-c", text],
        (1, "out\n", "err\n"),
    )
    .await;
    check_command(
        &codeyard,
        &["--language", "bash", "-c", text],
        (1, "out\n", "exited with status 3"),
    )
    .await;
}

/// Checks the status of `codeyard run`, its output, and a part of its standard error.
async fn check_command(codeyard: &Codeyard, arguments: &[&str], expected: (i32, &str, &str)) {
    let ran = codeyard.run([&["run"], arguments].concat()).await.unwrap();
    let stdout = String::from_utf8_lossy(&ran.stdout);
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(
        (ran.status.code(), &*stdout),
        (Some(expected.0), expected.1),
        "{stderr}"
    );
    assert!(stderr.contains(expected.2), "{stderr}");
}

#[tokio::test]
async fn the_shell_of_a_pooled_session_has_the_usual_priority() {
    let mut client = CodeClient::with_stub().await;
    for _ in 0..6 {
        let asked = json!({"code": "nice", "language": "shell", "session": "new"});
        let ran = client.execute(asked).await;
        assert_eq!(ran.stdout(), "0\n", "{ran:?}");
    }
}

/// The program reports its end itself, and undoes the signals that stop it.
#[tokio::test]
async fn a_shell_that_continues_itself_is_stopped_after_its_run() {
    let mut client = CodeClient::with_stub().await;
    let program = "printf 'turn 0 %d\\n' $BASHPID >&$codeyard_reports; while :; do builtin kill -CONT $$ $$ $$ $$; done";
    for _ in 0..20 {
        let asked = json!({"code": program, "language": "shell", "session": "new"});
        let ran = client.execute(asked).await;
        assert_eq!(ran.status(), "completed", "{ran:?}");
        let codeyard = client.mcp.pid().expect("a process");
        let is_running = || {
            let below = descendants(codeyard);
            let mut shells = below
                .iter()
                .filter(|process| process.command.contains("--noprofile"));
            shells.any(|shell| shell.state == 'R')
        };
        // A session prepared ahead runs for a moment.
        let stopped = async {
            while is_running() {
                tokio::task::yield_now().await;
            }
        };
        let stopped = tokio::time::timeout(Duration::from_secs(10), stopped).await;
        assert!(stopped.is_ok(), "{ran:?}");
    }
}
