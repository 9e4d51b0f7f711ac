//! A codeyard with everything that may be left behind: sessions with process trees, and a server with children.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, Mode, ServerDefinition, Traces, status_field, wait_until};

/// Leaves marked processes behind that ignore SIGTERM, each in its own process session; one is stopped.
pub const TREE: &str = include_str!("trees/leave_processes.py");
/// Runs for long, with a mark.
pub const LONG: &str = "import signal, time\nsignal.signal(signal.SIGUSR2, signal.SIG_IGN)\nprint('partial', flush=True)\ntime.sleep(600)\n";
/// Processes with a mark: three of the tree, and one that runs.
const MARKED: usize = 4;
/// The mark: SIGUSR2 is ignored.
const MARK: u64 = 1 << 11;
/// Longest time until everything is gone, on a machine under load.
const SOON: Duration = Duration::from_secs(12);

/// A busy codeyard.
pub struct Busy {
    pub client: CodeClient,
    /// The request id of the running program.
    pub running: Value,
    pub traces: Traces,
}

/// An installation with a server that can leave children behind.
pub fn installation() -> Codeyard {
    Codeyard::new()
        .unwrap()
        .server("stub", &ServerDefinition::stub_with_extras())
}

/// Starts a codeyard, a session with a tree, a server's child, and an endless program.
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
        "the server's child is a descendant of codeyard"
    );
    Busy {
        client,
        running,
        traces,
    }
}

/// Waits until all marked processes below a process exist.
pub async fn wait_until_marked(pid: u32) {
    wait_until("the tree exists and the program runs", || {
        let count = Traces::of(pid).only(is_marked).pids().len();
        (count == MARKED).then_some(())
    })
    .await;
}

/// Whether a process belongs to the tree or to the endless program.
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

/// Waits until every process is gone.
pub async fn check_processes_gone(traces: &Traces) {
    let start = Instant::now();
    wait_until("no process is left", || traces.running().is_empty().then_some(())).await;
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
}

/// Waits until every process and control group is gone: the launcher removes the groups of a killed codeyard.
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
