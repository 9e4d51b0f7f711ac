//! Concurrent commands, and processes that share a data directory.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use test_support::wait_until;

use crate::servers_command::{Yard, stub, stub_words};

/// Concurrent commands.
const CROWD: usize = 12;

/// Adds `s0`, `s1` and so on concurrently, each to the file of the same number.
async fn add_all(yard: &Yard, file: impl Fn(usize) -> PathBuf) {
    let [program, kind] = stub_words();
    let mut adding = Vec::new();
    for index in 0..CROWD {
        let name = format!("s{index}");
        let words = ["servers", "add", &name, "--yes", "--", &program, &kind];
        let mut command = yard
            .codeyard
            .command(["--config".as_ref(), file(index).as_os_str()])
            .unwrap();
        let command = command.args(words).stdin(Stdio::null()).stdout(Stdio::null());
        adding.push(command.stderr(Stdio::piped()).spawn().unwrap());
    }
    for child in adding {
        let ended = child.wait_with_output().await.unwrap();
        assert!(
            ended.status.success(),
            "{}",
            String::from_utf8_lossy(&ended.stderr)
        );
    }
}

/// Changes every command of a file; returns the number of servers without consent.
async fn held_back(yard: &Yard, file: &Path) -> usize {
    let text = std::fs::read_to_string(file).unwrap();
    std::fs::write(file, text.replace("\"stub\"", "\"other\"")).unwrap();
    let mut command = yard
        .codeyard
        .command(["--config".as_ref(), file.as_os_str()])
        .unwrap();
    let shown = command.args(["config", "show"]).output().await.unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let changed = |line: &&str| line.contains(".command ") && line.ends_with("(changed)");
    shown.lines().filter(changed).count()
}

#[tokio::test]
async fn concurrent_commands_lose_no_change() {
    let yard = Yard::with(&json!({}));
    add_all(&yard, |_| yard.file()).await;
    let written: Value = serde_json::from_str(&yard.text()).unwrap();
    assert_eq!(written["mcpServers"].as_object().unwrap().len(), CROWD);
    assert_eq!(held_back(&yard, &yard.file()).await, CROWD);

    let work = yard.codeyard.work_directory();
    let file = |index: usize| work.join(format!("own-{index}.json"));
    add_all(&yard, file).await;
    for index in 0..CROWD {
        assert_eq!(held_back(&yard, &file(index)).await, 1, "{index}");
    }
}

#[tokio::test]
async fn no_process_vanishes_from_the_list_during_queries() {
    let yard = Yard::with(&json!({"stub": stub()}));
    let mut all = Vec::new();
    for _ in 0..CROWD {
        let file = yard.file();
        let mut command = yard
            .codeyard
            .command(["mcp".as_ref(), "--config".as_ref(), file.as_os_str()])
            .unwrap();
        let command = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        all.push(command.spawn().unwrap());
    }
    // Queries continuously, because a query removes a socket without a listener.
    let seen = async { while yard.ps().await.len() < CROWD {} };
    let patience = std::time::Duration::from_secs(60);
    let waited = tokio::time::timeout(patience, seen).await;
    assert!(waited.is_ok(), "{:?}", yard.sockets());
    for mut child in all {
        drop(child.stdin.take());
        assert!(child.wait().await.unwrap().success());
    }
    assert_eq!(yard.sockets(), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn processes_of_one_number_in_two_containers_are_both_seen() {
    let mut yard = Yard::with(&json!({"stub": stub()}));
    if yard.file().metadata().unwrap().uid() != 0 {
        return; // Only root can make a process namespace everywhere.
    }
    // Codeyard is the second process in both containers.
    let container = [
        "unshare",
        "--pid",
        "--fork",
        "--mount-proc",
        "sh",
        "-c",
        "\"$@\"; exit $?",
        "sh",
    ];
    yard.codeyard = yard.codeyard.below(container);
    let first = yard.serve(&[]).await;
    let second = yard.serve(&[]).await;
    wait_until("both have their sockets", || {
        (yard.sockets().len() == 2).then_some(())
    })
    .await;
    yard.codeyard = yard.codeyard.below::<[&str; 0]>([]);
    let all = yard.ps().await;
    assert!(all.len() == 2 && all[0]["pid"] == all[1]["pid"], "{all:?}");
    // A process removes only its own socket at its end.
    second.finish().await.unwrap();
    assert_eq!(yard.ps().await.len(), 1);
    drop(first);
}
