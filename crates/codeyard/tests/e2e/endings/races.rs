//! Runs that end while what they started forks, stops itself and wakes the guest: by themselves, at their time, at a cancellation.

use std::fs;

use serde_json::json;
use test_support::{CodeClient, Codeyard, Process, Ran, descendants, wait_until};

use crate::endings::runs::{LANDLOCK, find};
use crate::endings::trees::ignores;

const RACING: &str = include_str!("left/racing.py");
/// SIGHUP and SIGCONT, which no process of codeyard ignores.
const MARK: u64 = 1 << 0 | 1 << 17;
/// Runs of each kind; each has fifteen processes or more of which most fork as fast as they can, or as many as an ordinary
/// user may have.
const RUNS: usize = 6;
/// Processes by which a run is known to have begun to race: the guest and some of its own.
const RACERS: usize = 4;
/// What makes a run go on until somebody ends it: it stops when it is asked to, or it does not.
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

/// The processes of runs that are alive: the guest, which the program marked too, and what it started.
fn marked(client: &CodeClient) -> Vec<Process> {
    let mut below = descendants(client.mcp.pid().unwrap());
    // The kernel still lists a dead process for a moment.
    below.retain(|process| process.state != 'X' && ignores(process.pid, MARK));
    below
}

/// Runs it to its end. A cancelled call has no answer: its run is over when the session's next one begins.
async fn run(client: &mut CodeClient, end: End) -> Option<Ran> {
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

/// Of what a run has started nothing is alive at its answer but the guest, and that stands still.
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
            assert_eq!(length(), before, "{end:?} {number}: something went on writing");
        }
        // The next run of a session finds it usable, or begins again.
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
async fn nothing_races_on_when_a_run_ends_by_itself() {
    check("", End::Itself, &["completed", "limit_exceeded"]).await;
}

#[tokio::test]
async fn nothing_races_on_after_a_time_out() {
    check("", End::TimedOut(OBEYS), &["timed_out"]).await;
    check("", End::TimedOut(DEAF), &["timed_out"]).await;
}

#[tokio::test]
async fn nothing_races_on_after_a_cancellation() {
    check("", End::Cancelled(OBEYS), &[]).await;
    check("", End::Cancelled(DEAF), &[]).await;
}

#[tokio::test]
async fn without_namespaces_nothing_races_on_either() {
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

/// A guest that hoards, hears nothing and stops itself meets its time at the latest; the name then works again.
#[tokio::test]
async fn a_guest_that_hoards_and_stops_itself_ends_with_its_run() {
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
        assert_eq!(files, None, "a file without a name has none on the host");
    }
}
