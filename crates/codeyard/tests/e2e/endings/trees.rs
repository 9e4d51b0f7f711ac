//! A codeyard with everything below it that could be left behind: sessions with process trees, a server with children.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, Mode, ServerDefinition, Traces, status_field, wait_until};

/// Leaves processes behind that hear no SIGTERM, in sessions of their own, one of them stopped; each carries a mark.
pub const TREE: &str = include_str!("trees/leave_processes.py");
/// Goes on for long, with a mark.
pub const LONG: &str = "import signal, time\nsignal.signal(signal.SIGUSR2, signal.SIG_IGN)\nprint('partial', flush=True)\ntime.sleep(600)\n";
/// Processes with a mark: three of the tree, one that runs.
const MARKED: usize = 4;
/// The mark: SIGUSR2 is ignored.
const MARK: u64 = 1 << 11;
/// Everything must be gone within this time, on a machine under load.
const SOON: Duration = Duration::from_secs(12);

/// A busy codeyard.
pub struct Busy {
    pub client: CodeClient,
    /// The request of the program that runs.
    pub running: Value,
    pub traces: Traces,
}

/// An installation with a server that can leave children behind.
pub fn installation() -> Codeyard {
    Codeyard::new()
        .unwrap()
        .server("stub", &ServerDefinition::stub_with_extras())
}

/// Starts a codeyard, a session with a tree, a server's child, and a program that goes on.
pub async fn busy() -> Busy {
    busy_of(CodeClient::of(installation()).await).await
}

/// Makes a codeyard busy.
pub async fn busy_of(mut client: CodeClient) -> Busy {
    let ran = client.run_in("tree", "kept = 'kept'").await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    let child = client.run("int(await tools.stub.spawn())").await;
    let child = u32::try_from(child.result().as_u64().unwrap()).unwrap();
    let running = client
        .start(json!({"code": format!("{TREE}{LONG}"), "session": "running", "timeout_ms": 300_000}))
        .await;
    let pid = client.mcp.pid().unwrap();
    wait_until_marked(pid).await;
    let traces = Traces::of(pid);
    assert!(
        traces.pids().contains(&child),
        "the server's child hangs below codeyard"
    );
    Busy {
        client,
        running,
        traces,
    }
}

/// Waits until all the marked processes below one are there.
pub async fn wait_until_marked(pid: u32) {
    wait_until("the tree stands and the program runs", || {
        let count = Traces::of(pid).only(is_marked).pids().len();
        (count == MARKED).then_some(())
    })
    .await;
}

/// Whether a process is one of the tree or the program that goes on.
pub fn is_marked(pid: u32) -> bool {
    ignores(pid, MARK)
}

/// Whether a process ignores these signals, given as bits of the kernel's set.
pub fn ignores(pid: u32, signals: u64) -> bool {
    let ignored = status_field(pid, "SigIgn").and_then(|set| u64::from_str_radix(&set, 16).ok());
    ignored.is_some_and(|ignored| ignored & signals == signals)
}

/// Sends a signal to one process.
pub fn send(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Every process is gone soon.
pub async fn check_processes_gone(traces: &Traces) {
    let start = Instant::now();
    wait_until("no process is left", || traces.running().is_empty().then_some(())).await;
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
}

/// Every process is gone soon, and so are the control groups: the launcher removes those of a codeyard that was killed.
pub async fn check_gone_with_groups(traces: &Traces) {
    check_processes_gone(traces).await;
    if Mode::of(&installation()).await.unwrap().groups {
        assert!(!traces.groups().is_empty(), "sessions had groups");
    }
    wait_until("no control group is left", || {
        traces.left().is_empty().then_some(())
    })
    .await;
}
