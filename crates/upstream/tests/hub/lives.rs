//! How servers start and end, without any remains.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::{ServerDefinition, is_gone, servers, stub_server, wait_until};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use upstream::{Hub, HubConfig, UpstreamError};
use upstream_wire::Era;

use crate::{call, config, hub, state, text};

/// A test server below a shell that ignores polite signals.
fn stubborn(args: &str) -> ServerDefinition {
    let script = format!(
        "trap '' TERM INT HUP; '{}' {args}; sleep 1000",
        stub_server().display()
    );
    ServerDefinition::new("/bin/sh", &["-c", &script])
}

async fn pid_of(hub: &Hub, server: &str, tool: &str) -> u32 {
    let answer = call(hub, server, tool, json!({})).await.expect("an answer");
    let pid = answer["structuredContent"]["pid"]
        .as_u64()
        .or_else(|| text(&answer).parse().ok());
    pid.and_then(|pid| u32::try_from(pid).ok())
        .expect("a process number")
}

#[tokio::test]
async fn shutdown_ends_servers_of_every_kind_with_all_they_started() {
    let hub = hub(&[
        ("good", ServerDefinition::stub()),
        ("careless", ServerDefinition::stub_with_extras()),
        ("stubborn", stubborn("stub")),
        ("hung", ServerDefinition::hostile("hang")),
        ("idle", ServerDefinition::stub()),
    ]);
    let mut pids = Vec::new();
    for (server, tool) in [
        ("good", "pid"),
        ("careless", "pid"),
        ("careless", "spawn"),
        ("stubborn", "pid"),
    ] {
        pids.push(pid_of(&hub, server, tool).await);
    }
    pids.extend(hub.states().iter().filter_map(|state| state.pid));
    let hung = hub.list("hung");
    let shutdown = async {
        tokio::time::timeout(Duration::from_millis(300), std::future::pending::<()>())
            .await
            .expect_err("pending");
        assert!(pids.iter().all(|pid| !is_gone(*pid)));
        let start = Instant::now();
        hub.shutdown().await;
        start.elapsed()
    };
    let (hung, took) = tokio::join!(hung, shutdown);
    assert!(
        matches!(hung, Err(UpstreamError::ShuttingDown { .. })),
        "{hung:?}"
    );
    assert!(took < Duration::from_secs(8), "{took:?}");
    for pid in pids {
        assert!(is_gone(pid), "process {pid} is still there");
    }
    for server in ["good", "idle"] {
        let error = call(&hub, server, "echo", json!({})).await.expect_err("closed");
        assert_eq!(
            error.to_string(),
            format!("server '{server}' takes no more calls: codeyard is shutting down")
        );
    }
}

#[tokio::test]
async fn the_last_words_of_servers_are_kept() {
    let logs = tempfile::tempdir().expect("a temporary directory");
    let script = format!("'{}' stub; echo the last words >&2", stub_server().display());
    let names: Vec<String> = (0..8).map(|number| format!("server{number}")).collect();
    let servers: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), ServerDefinition::new("/bin/sh", &["-c", &script])))
        .collect();
    let hub = Hub::new(HubConfig {
        log_dir: Some(logs.path().to_owned()),
        ..config(&servers)
    });
    for name in &names {
        call(&hub, name, "echo", json!({"message": "x"}))
            .await
            .expect("an answer");
    }
    hub.shutdown().await;
    for name in &names {
        let log = std::fs::read_to_string(upstream_wire::log_file(logs.path(), name)).expect("a log");
        assert!(log.ends_with("the last words\n"), "{name}: {log}");
    }
}

#[tokio::test]
async fn calls_under_way_end_with_the_shutdown() {
    let hub = hub(&[("stub", ServerDefinition::stub())]);
    pid_of(&hub, "stub", "pid").await;
    let slow = call(&hub, "stub", "slow", json!({"seconds": 600}));
    let shutdown = async {
        wait_until("the call is under way", || {
            crate::is_running(&hub, "stub").then_some(())
        })
        .await;
        hub.shutdown().await;
    };
    let (slow, ()) = tokio::join!(slow, shutdown);
    let error = slow.expect_err("ended").to_string();
    assert!(
        error.contains("'stub'") && error.contains("codeyard is shutting down"),
        "{error}"
    );
}

#[tokio::test]
async fn the_last_handle_takes_the_servers_with_it() {
    let hub = hub(&[("careless", ServerDefinition::stub_with_extras())]);
    let pids = [
        pid_of(&hub, "careless", "pid").await,
        pid_of(&hub, "careless", "spawn").await,
    ];
    let clone = hub.clone();
    drop(hub);
    assert_eq!(pid_of(&clone, "careless", "pid").await, pids[0]);
    drop(clone);
    for pid in pids {
        wait_until("the process is gone", || is_gone(pid).then_some(())).await;
    }
}

#[tokio::test]
async fn leftover_processes_end_with_their_server() {
    let hub = hub(&[("careless", ServerDefinition::stub_with_extras())]);
    let left = pid_of(&hub, "careless", "spawn").await;
    assert!(!is_gone(left));
    call(&hub, "careless", "crash", json!({}))
        .await
        .expect_err("ended");
    wait_until("the process is gone", || is_gone(left).then_some(())).await;
}

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test kills the process that holds the server"
)]
async fn a_killed_process_leaves_no_server_behind() {
    let test = std::env::current_exe().expect("the test knows its own path");
    let profile = test
        .parent()
        .and_then(Path::parent)
        .expect("tests lie in target/<profile>/deps");
    let mut holder = tokio::process::Command::new(profile.join("examples/holder"))
        .arg(stub_server())
        .args(["stub", "--extras"])
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the example starts");
    let mut lines = BufReader::new(holder.stdout.take().expect("piped")).lines();
    let mut pids = Vec::new();
    for _ in 0..2 {
        let line = lines.next_line().await.expect("readable").expect("a line");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        let pid = answer["structuredContent"]["pid"]
            .as_u64()
            .or_else(|| text(&answer).parse().ok());
        pids.push(
            pid.and_then(|pid| u32::try_from(pid).ok())
                .expect("a process number"),
        );
    }
    assert!(pids.iter().all(|pid| !is_gone(*pid)));
    holder.kill().await.expect("killed");
    for pid in pids {
        wait_until("the process is gone", || is_gone(pid).then_some(())).await;
    }
}

async fn check_era(definition: ServerDefinition, directory: &Path, expected: Era) -> Duration {
    let config = config(&[("server", definition)]);
    let hub = Hub::new(HubConfig {
        cache_dir: Some(directory.to_owned()),
        log_dir: None,
        ..config
    });
    hub.ready().await;
    let start = Instant::now();
    let answer = call(&hub, "server", "echo", json!({"message": "x"}))
        .await
        .expect("an answer");
    let took = start.elapsed();
    assert_eq!(text(&answer), "x");
    assert_eq!(state(&hub, "server").era, Some(expected));
    // The cache stores the list with the lifecycle.
    hub.list("server").await.expect("listed");
    hub.shutdown().await;
    took
}

#[tokio::test]
async fn a_server_that_is_slow_to_start_is_understood_in_either_era() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    // Slower than the delay after which both requests are in the pipe.
    let slow = |era| ServerDefinition::hostile("slow-start:6").era(era);
    let (modern, legacy) = tokio::join!(
        check_era(slow(servers::Era::Modern), directory.path(), Era::Modern),
        check_era(slow(servers::Era::Legacy), directory.path(), Era::Legacy),
    );
    assert!(
        modern < Duration::from_secs(11) && legacy < Duration::from_secs(11),
        "started twice"
    );
}

#[tokio::test]
async fn a_server_that_fails_at_discover_is_initialized_and_its_era_is_cached() {
    for mode in ["dies-on-discover", "mute-on-discover"] {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let definition = ServerDefinition::hostile(mode);
        let first = check_era(definition.clone(), directory.path(), Era::Legacy).await;
        let second = check_era(definition, directory.path(), Era::Legacy).await;
        assert!(
            second < Duration::from_secs(4),
            "{mode}: asked again, {first:?} then {second:?}"
        );
    }
}
