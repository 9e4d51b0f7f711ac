//! When a run's answer is sent, none of its processes acts any more, in every mode and backend.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, descendants};

pub const LANDLOCK: &str = "[sandbox]\nbackend = \"landlock\"\n";

/// Each leaves at least a dozen processes.
const RUNS_OF_FORKS: usize = 90;

const FORKS: &str = include_str!("left/forks.py");
const THREADS: &str = include_str!("left/threads.py");
const SIGNALS: &str = include_str!("left/signals.py");
const CONTINUES: &str = include_str!("left/continues.py");
const DONE: &str = include_str!("left/done.py");

/// A client on the default backend or on another.
async fn client(settings: &str) -> CodeClient {
    CodeClient::of(Codeyard::with_stub().unwrap().settings(settings)).await
}

/// The path of a session's file on the host, in any mode.
pub fn find(directory: &Path, name: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(directory).ok()?;
    entries.flatten().find_map(|entry| {
        let path = entry.path();
        match entry.file_type().ok()?.is_dir() {
            true => find(&path, name),
            false => (entry.file_name() == name).then_some(path),
        }
    })
}

/// After `program`, which prints `word`, its processes are still: its file does not grow, and the next run's output
/// is clean.
async fn check_still(program: &str, word: &str) {
    let mut client = client("").await;
    let ran = client.run_in("left", program).await;
    assert_eq!((ran.status(), ran.stdout()), ("completed", word), "{ran:?}");
    let root = client.codeyard.directory().to_owned();
    let length = || {
        find(&root, "alive")
            .and_then(|file| fs::metadata(file).ok())
            .map(|found| found.len())
    };
    let before = length();
    assert!(before.is_some(), "it has written");
    // Runs another session for a while, in which the first one must stay still.
    let other = client.run_in("other", "import time\ntime.sleep(0.3)\n1").await;
    assert_eq!(other.result(), &json!(1), "{other:?}");
    assert_eq!(length(), before, "a process of the ended run continued to write");
    let next = client.run_in("left", "'next'").await;
    assert_eq!(
        (next.status(), next.result()),
        ("completed", &json!("next")),
        "{next:?}"
    );
    assert_eq!(next.stdout(), "", "output of an earlier run: {next:?}");
}

#[tokio::test]
async fn leftover_threads_of_a_run_stop() {
    check_still(THREADS, "started\n").await;
}

#[tokio::test]
async fn threads_stop_without_namespaces_too() {
    let mut client = client(LANDLOCK).await;
    let ran = client.run_in("left", THREADS).await;
    assert_eq!(
        (ran.status(), ran.stdout()),
        ("completed", "started\n"),
        "{ran:?}"
    );
    let below = descendants(client.mcp.pid().unwrap());
    let guests = below
        .iter()
        .filter(|process| process.command.contains("alone.py"));
    let states: Vec<char> = guests.map(|process| process.state).collect();
    assert_eq!(states, ['T'], "{below:?}");
    let next = client.run_in("left", "'next'").await;
    assert_eq!(next.result(), &json!("next"), "{next:?}");
}

#[tokio::test]
async fn a_timer_of_the_main_thread_fires_only_during_a_run() {
    check_still(SIGNALS, "armed\n").await;
}

#[tokio::test]
async fn no_signal_of_a_guest_cancels_its_stop() {
    check_still(CONTINUES, "armed\n").await;
}

#[tokio::test]
async fn a_guest_that_lies_about_its_end_is_stopped() {
    let mut client = client("").await;
    let ran = client.run_in("left", DONE).await;
    assert_eq!(
        (ran.status(), ran.result()),
        ("completed", &json!("over")),
        "{ran:?}"
    );
    let root = client.codeyard.directory().to_owned();
    let length = || {
        find(&root, "alive")
            .and_then(|file| fs::metadata(file).ok())
            .map(|found| found.len())
    };
    let before = length();
    let other = client.run_in("other", "import time\ntime.sleep(0.3)\n1").await;
    assert_eq!(other.result(), &json!(1), "{other:?}");
    assert_eq!(length(), before);
}

/// Of over a thousand processes that fork endlessly and ignore every signal, none is alive at the answer.
#[tokio::test]
async fn no_process_that_a_run_has_started_is_alive_at_its_answer() {
    let mut client = client("").await;
    let ran = client.run_in("left", "kept = 1").await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    for run in 0..RUNS_OF_FORKS {
        let ran = client.run_in("left", FORKS).await;
        let ended = matches!(ran.status(), "completed" | "limit_exceeded");
        assert!(
            ended && ran.fields().get("session_state") != Some(&json!("lost")),
            "run {run}: {ran:?}"
        );
        let below = descendants(client.mcp.pid().unwrap());
        let left: Vec<_> = below.iter().filter(|process| is_fork(process.pid)).collect();
        assert!(left.is_empty(), "run {run}: {left:?}");
    }
    let ran = client
        .run_in(
            "left",
            "import subprocess\nkept, subprocess.run(['true']).returncode",
        )
        .await;
    assert_eq!(
        ran.result(),
        &json!([1, 0]),
        "state is kept, and processes start again: {ran:?}"
    );
}

/// Whether a process ignores SIGHUP and SIGCONT, as only processes of `forks.py` do.
fn is_fork(pid: u32) -> bool {
    const SIGHUP_AND_SIGCONT: u64 = 1 << 0 | 1 << 17;
    crate::endings::trees::ignores(pid, SIGHUP_AND_SIGCONT)
}

#[tokio::test]
async fn without_namespaces_no_process_is_alive_at_the_answer() {
    let mut client = client(LANDLOCK).await;
    let ran = client
        .run_in(
            "left",
            "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\n'forked'",
        )
        .await;
    assert_eq!(ran.result(), &json!("forked"), "{ran:?}");
    let ran = client
        .run_in("left", "import os\nos.waitpid(-1, os.WNOHANG)")
        .await;
    assert!(
        ran.error().contains("ChildProcessError"),
        "the child is gone: {ran:?}"
    );
}

#[tokio::test]
async fn frames_between_runs_are_dropped_and_a_run_with_earlier_threads_is_marked() {
    let mut client = client("[records]\nrecord = \"required\"\n").await;
    let ran = client.run_in("left", include_str!("left/frames.py")).await;
    assert_eq!((ran.status(), ran.stdout()), ("completed", "asking\n"), "{ran:?}");
    let ran = client.run_in("quiet", "1").await;
    assert_eq!(ran.result(), &json!(1), "{ran:?}");
    // The thread can call only during a run, and then the call counts for this run.
    let next = client.run_in("left", "'next'").await;
    assert!(
        next.result() == &json!("next") || next.error().contains("SandboxLost"),
        "{next:?}"
    );
    let records = client.codeyard.run(["runs", "--json"]).await.unwrap();
    let listed = String::from_utf8(records.stdout).unwrap();
    let runs = listed
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let marks = runs.filter(|run| run["earlier_threads"] == 1);
    assert_eq!(marks.count(), 1, "{listed}");
}

#[tokio::test]
async fn threads_of_to_thread_end_with_the_run() {
    let mut client = client("").await;
    let program = "import asyncio, threading, time\nasyncio.ensure_future(asyncio.to_thread(time.sleep, 0.2))\nawait asyncio.sleep(0)\n1";
    let ran = client.run(program).await;
    assert_eq!(ran.result(), &json!(1), "{ran:?}");
    let ran = client
        .run("[thread.name for thread in threading.enumerate()]")
        .await;
    assert_eq!(ran.result(), &json!(["MainThread"]), "{ran:?}");
    let ran = client.run("await asyncio.to_thread(len, 'four')").await;
    assert_eq!(ran.result(), &json!(4), "later runs have threads again: {ran:?}");
}
