//! Signals, a disconnecting client, and SIGKILL.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use test_support::{CodeClient, Traces};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::endings::trees::{
    LONG, TREE, busy, busy_of, check_gone_with_groups, check_processes_gone, installation, is_marked, send,
    wait_until_marked,
};

/// Longest wait for the end of a process.
const PATIENCE: Duration = Duration::from_secs(20);

/// The exit code of an ending command.
async fn code(mut child: Child) -> Option<i32> {
    let ended = tokio::time::timeout(PATIENCE, child.wait()).await;
    ended.expect("it ends in time").unwrap().code()
}

/// Starts `codeyard run` of an endless program with a process tree and a server's child.
async fn run(mut command: Command) -> (Child, Traces) {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let program = format!("{TREE}await tools.stub.spawn()\n{LONG}");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(program.as_bytes()).await.unwrap();
    drop(stdin);
    let pid = child.id().unwrap();
    wait_until_marked(pid).await;
    (child, Traces::of(pid))
}

#[tokio::test]
async fn a_signal_ends_a_server_in_order() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let busy = busy().await;
        let CodeClient { mut mcp, codeyard } = busy.client;
        send(mcp.pid().unwrap(), signal);
        let status = mcp.wait().await.unwrap();
        assert_eq!(status.code(), Some(0), "{signal:?}: {}", mcp.stderr());
        check_processes_gone(&busy.traces).await;
        assert_eq!(busy.traces.left(), Vec::<String>::new(), "{signal:?}");
        let mut next = CodeClient::of(codeyard).await;
        next.check("print('next')", "next\n").await;
    }
}

#[tokio::test]
async fn a_signal_ends_a_command_after_its_printed_output() {
    for (signal, expected) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let codeyard = installation();
        let (mut child, traces) = run(codeyard.command(["run", "-"]).unwrap()).await;
        let mut stdout = child.stdout.take().unwrap();
        send(child.id().unwrap(), signal);
        assert_eq!(code(child).await, Some(expected), "{signal:?}");
        let mut printed = String::new();
        stdout.read_to_string(&mut printed).await.unwrap();
        assert_eq!(printed, "partial\n", "{signal:?}");
        check_processes_gone(&traces).await;
        assert_eq!(traces.left(), Vec::<String>::new(), "{signal:?}");
    }
}

#[tokio::test]
async fn a_client_that_closes_its_side_ends_everything() {
    let mut busy = busy().await;
    busy.client.mcp.close_stdin();
    let status = busy.client.mcp.wait().await.unwrap();
    assert_eq!(status.code(), Some(0), "{}", busy.client.mcp.stderr());
    check_processes_gone(&busy.traces).await;
    assert_eq!(busy.traces.left(), Vec::<String>::new());
}

#[tokio::test]
async fn a_client_that_no_longer_reads_ends_everything_when_it_goes() {
    let codeyard = installation();
    let mut child = codeyard
        .command(["mcp"])
        .unwrap()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let client = json!({"name": "deaf", "version": "1"});
    let opening = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let program = json!({"code": format!("{TREE}{LONG}"), "timeout_ms": 300_000});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "execute_code", "arguments": program}}),
    ];
    for message in messages {
        stdin.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
    let mut lines = BufReader::new(stdout).lines();
    assert!(lines.next_line().await.unwrap().is_some());
    let pid = child.id().unwrap();
    wait_until_marked(pid).await;
    let traces = Traces::of(pid);
    drop(lines);
    // Codeyard's next write meets a closed pipe, and codeyard continues: the client may still send.
    let list = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"});
    stdin.write_all(format!("{list}\n").as_bytes()).await.unwrap();
    send(pid, Signal::PIPE);
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = told.next_line().await.unwrap().unwrap();
    assert!(line.contains("closed its side"), "{line}");
    let marked = traces.only(is_marked);
    assert_eq!(
        marked.running().len(),
        marked.pids().len(),
        "{:?}",
        marked.running()
    );
    drop(stdin);
    assert_eq!(code(child).await, Some(0));
    check_processes_gone(&traces).await;
    assert_eq!(traces.left(), Vec::<String>::new());
}

#[tokio::test]
async fn a_reader_that_closes_before_the_output_is_no_failure() {
    let codeyard = installation();
    let mut child = codeyard
        .command(["run", "-"])
        .unwrap()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let program = format!("{TREE}print('x' * 500_000)");
    stdin.write_all(program.as_bytes()).await.unwrap();
    drop(stdin);
    let pid = child.id().unwrap();
    let mut told = String::new();
    let mut stderr = child.stderr.take().unwrap();
    let status = tokio::time::timeout(PATIENCE, async {
        stderr.read_to_string(&mut told).await.unwrap();
        child.wait().await.unwrap()
    });
    let status = status.await.unwrap();
    assert_eq!((status.code(), told.as_str()), (Some(0), ""));
    assert!(Traces::of(pid).running().is_empty());
}

#[tokio::test]
async fn killed_servers_leave_nothing_and_the_next_start_works() {
    let busy = busy().await;
    let CodeClient { mut mcp, codeyard } = busy.client;
    mcp.kill().unwrap();
    mcp.wait().await.unwrap();
    check_gone_with_groups(&busy.traces).await;
    let mut next = CodeClient::of(codeyard).await;
    next.check("print('next')", "next\n").await;
}

#[tokio::test]
async fn killed_commands_leave_nothing() {
    let codeyard = installation();
    let (mut child, traces) = run(codeyard.command(["run", "-"]).unwrap()).await;
    child.start_kill().unwrap();
    child.wait().await.unwrap();
    check_gone_with_groups(&traces).await;
}

#[tokio::test]
async fn two_servers_on_a_data_directory_end_independently() {
    let shared = installation();
    let data = shared.data_directory();
    let one = busy_of(CodeClient::of(installation().data(&data)).await).await;
    let mut other = busy_of(CodeClient::of(installation().data(&data)).await).await;
    let CodeClient { mut mcp, codeyard } = one.client;
    mcp.kill().unwrap();
    mcp.wait().await.unwrap();
    check_processes_gone(&one.traces).await;
    // A third start takes over the first one's leftovers, and nothing of the second.
    let mut third = CodeClient::of(installation().data(&data)).await;
    third.check("print('third')", "third\n").await;
    let kept = other.client.run_in("tree", "kept").await;
    assert_eq!(kept.result(), "kept", "{kept:?}");
    let marked = other.traces.only(is_marked);
    assert_eq!(
        marked.running().len(),
        marked.pids().len(),
        "{:?}",
        marked.running()
    );
    let running = other.running.clone();
    other.client.mcp.cancel(&running).await.unwrap();
    drop(codeyard);
}
