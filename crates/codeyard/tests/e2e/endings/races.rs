//! Ends of runs whose processes fork, stop themselves and wake the guest: a normal end, a time-out and a
//! cancellation.

use std::fs;

use serde_json::json;
use test_support::{CodeClient, CodeResult, Codeyard, Process, descendants, wait_until};

use crate::endings::runs::{LANDLOCK, find};
use crate::endings::trees::ignores;

const RACING: &str = include_str!("left/racing.py");
/// SIGHUP and SIGCONT, which no process of codeyard ignores.
const MARK: u64 = 1 << 0 | 1 << 17;
/// Runs of each kind. Each has at least fifteen processes, or an ordinary user's limit; most fork in a loop.
const RUNS: usize = 6;
/// Processes that show that a run is racing: the guest and some of its children.
const RACERS: usize = 4;
/// Whether the endless part of a run obeys or ignores the signal to stop.
const OBEYS: &str = "import time\ntime.sleep(600)\n";
const DEAF: &str = "signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass\n";

/// How a run ends.
#[derive(Debug, Clone, Copy)]
enum End {
    Itself,
    TimedOut(&'static str),
    Cancelled(&'static str),
}

async fn client(settings: &str) -> CodeClient {
    let codeyard = Codeyard::with_stub().unwrap().settings(settings);
    CodeClient::of(codeyard).await
}

/// Live processes of runs: the guest, which the program marked too, and its descendants.
fn marked(client: &CodeClient) -> Vec<Process> {
    let mut below = descendants(client.mcp.pid().unwrap());
    // The kernel still lists a dead process for a moment.
    below.retain(|process| process.state != 'X' && ignores(process.pid, MARK));
    below
}

/// Runs the program to its end. A cancelled call has no answer: its run is over when the session's next run begins.
async fn run(client: &mut CodeClient, end: End) -> Option<CodeResult> {
    let execute =
        |code: String, timeout: u64| json!({"code": code, "session": "left", "timeout_ms": timeout});
    match end {
        End::Itself => Some(client.execute(execute(RACING.to_owned(), 60_000)).await),
        End::TimedOut(goes_on) => Some(client.execute(execute(format!("{RACING}{goes_on}"), 700)).await),
        End::Cancelled(goes_on) => {
            let id = client.start(execute(format!("{RACING}{goes_on}"), 60_000)).await;
            wait_until("the run has started processes", || {
                (marked(client).len() >= RACERS).then_some(())
            })
            .await;
            client.mcp.cancel(&id).await.unwrap();
            None
        }
    }
}

/// At a run's answer, only the guest is alive, and the guest is stopped.
async fn check(settings: &str, end: End, statuses: &[&str]) {
    let mut client = client(settings).await;
    for number in 0..RUNS {
        let ran = run(&mut client, end).await;
        if let Some(ran) = &ran {
            let left = marked(&client);
            let is_lost = ran.fields()["session_state"] == "lost";
            let states: Vec<char> = left.iter().map(|process| process.state).collect();
            let expected: &[char] = if is_lost { &[] } else { &['T'] };
            assert_eq!(states, expected, "{end:?} {number}: {left:?} {ran:?}");
            assert!(statuses.contains(&ran.status()), "{end:?} {number}: {ran:?}");
        }
        let root = client.codeyard.directory().to_owned();
        let length = || find(&root, "alive").map(|file| fs::metadata(file).map(|found| found.len()).ok());
        let before = ran.as_ref().and_then(|_| length());
        let other = client.run_in("other", "import time\ntime.sleep(0.05)\n1").await;
        assert_eq!(other.result(), &json!(1), "{end:?} {number}: {other:?}");
        if ran.is_some() {
            assert_eq!(length(), before, "{end:?} {number}: a process continued to write");
        }
        // The session's next run works, perhaps in a new session.
        let program = "import os, subprocess\nsubprocess.run(['true']).returncode, os.path.exists('alive') and os.unlink('alive')";
        let next = client.run_in("left", program).await;
        assert_eq!(next.status(), "completed", "{end:?} {number}: {next:?}");
        let left: Vec<Process> = marked(&client);
        assert!(left.len() <= 1, "{end:?} {number}: {left:?}");
        let closed = client.run_in("left", "import os\nos._exit(0)").await;
        assert_eq!(closed.fields()["session_state"], "lost", "{closed:?}");
    }
}

#[tokio::test]
async fn no_process_survives_a_normal_end() {
    check("", End::Itself, &["completed", "limit_exceeded"]).await;
}

#[tokio::test]
async fn no_process_survives_a_time_out() {
    check("", End::TimedOut(OBEYS), &["timed_out"]).await;
    check("", End::TimedOut(DEAF), &["timed_out"]).await;
}

#[tokio::test]
async fn no_process_survives_a_cancellation() {
    check("", End::Cancelled(OBEYS), &[]).await;
    check("", End::Cancelled(DEAF), &[]).await;
}

#[tokio::test]
async fn without_namespaces_no_process_survives_either() {
    let any = ["completed", "limit_exceeded", "failed", "timed_out"];
    for end in [
        End::Itself,
        End::TimedOut(OBEYS),
        End::TimedOut(DEAF),
        End::Cancelled(OBEYS),
    ] {
        check(LANDLOCK, end, &any).await;
    }
}

/// A guest that allocates memory, ignores signals and stops itself ends at its time limit. The name then works again.
#[tokio::test]
async fn a_guest_that_allocates_and_stops_itself_ends_with_its_run() {
    for settings in ["", LANDLOCK] {
        let mut client = client(&format!("{settings}[limits]\nopen_files = 2048\n")).await;
        let program = include_str!("left/hoard.py");
        let call = json!({"code": program, "session": "left", "timeout_ms": 3000});
        let ran = client.execute(call).await;
        let left = marked(&client);
        let is_lost = ran.fields()["session_state"] == "lost";
        let expected = if is_lost { "timed_out" } else { "completed" };
        assert_eq!(ran.status(), expected, "{ran:?}");
        let alive = left.iter().filter(|process| is_lost || process.state != 'T');
        assert_eq!(alive.count(), 0, "{left:?} {ran:?}");
        let next = client.run_in("left", "'held' in globals()").await;
        assert_eq!(next.result(), &json!(!is_lost), "{next:?}");
        let files = find(client.codeyard.directory(), "tmp");
        assert_eq!(files, None, "an unnamed file must have no name on the host");
    }
}
