//! Idle stop, concurrent calls, the circuit breaker and limits of servers.

use std::num::NonZeroU32;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use test_support::{ServerDefinition, is_gone, wait_until};
use upstream::{Hub, RelayRequest, Status, UpstreamError};
use upstream_wire::ServerLimits;

use crate::{LONG, call, call_within, hub_of, state, stdio, text, tool_names};

async fn pid(hub: &Hub) -> u32 {
    let answer = call(hub, "server", "pid", json!({})).await.expect("an answer");
    let pid = answer["structuredContent"]["pid"].as_u64().expect("a number");
    u32::try_from(pid).expect("a process number")
}

async fn failure(hub: &Hub, tool: &str, arguments: Value) -> UpstreamError {
    call(hub, "server", tool, arguments).await.expect_err("a failure")
}

#[tokio::test]
async fn an_idle_server_stops_and_restarts_with_its_list() {
    let hub = hub_of(&ServerDefinition::stub(), |server| {
        server.idle_stop = Some(Duration::from_millis(400));
    });
    let first = pid(&hub).await;
    hub.list("server").await.expect("listed");
    // A call longer than the idle time keeps the server.
    let answer = call(&hub, "server", "slow", json!({"seconds": 1})).await;
    assert_eq!(text(&answer.expect("an answer")), "done");
    assert_eq!(pid(&hub).await, first);
    wait_until("it rests", || is_gone(first).then_some(())).await;
    wait_until("it is idle", || {
        (state(&hub, "server").status == Status::Idle).then_some(())
    })
    .await;
    assert!(tool_names(&hub, "server").is_some_and(|tools| tools.contains(&"echo".to_owned())));
    assert_ne!(pid(&hub).await, first);
    hub.shutdown().await;
}

#[tokio::test]
async fn calls_to_a_stopping_server_are_answered() {
    let hub = hub_of(&ServerDefinition::stub(), |server| {
        server.idle_stop = Some(Duration::from_millis(1));
    });
    for number in 0..30 {
        tokio::time::sleep(Duration::from_millis(number % 4)).await;
        let message = number.to_string();
        let answer = call(&hub, "server", "echo", json!({"message": message})).await;
        assert_eq!(text(&answer.expect("an answer")), message);
    }
    hub.shutdown().await;
}

#[tokio::test]
async fn excess_calls_wait_within_their_own_time() {
    let hub = hub_of(&ServerDefinition::stub(), |server| {
        server.max_calls = NonZeroU32::new(2);
    });
    pid(&hub).await;
    let start = Instant::now();
    let slow = || call(&hub, "server", "slow", json!({"seconds": 0.4}));
    let answers = tokio::join!(slow(), slow(), slow(), slow());
    assert!(answers.0.is_ok() && answers.1.is_ok() && answers.2.is_ok() && answers.3.is_ok());
    assert!(start.elapsed() >= Duration::from_millis(800), "two at once");
    let longer = || call(&hub, "server", "slow", json!({"seconds": 2}));
    let third = async {
        wait_until("both places are taken", || {
            (state(&hub, "server").under_way == 2).then_some(())
        })
        .await;
        call_within(
            &hub,
            Duration::from_millis(100),
            "server",
            "echo",
            json!({"message": "x"}),
        )
        .await
    };
    let (one, two, third) = tokio::join!(longer(), longer(), third);
    assert!(one.is_ok() && two.is_ok());
    let error = third.expect_err("no free slot");
    assert!(error.is_transient(), "{error:?}");
    let words =
        "server 'server' has 2 calls in flight (`maxCalls`), and the call of 'echo' found no free slot";
    assert!(error.to_string().contains(words), "{error}");
    hub.shutdown().await;
}

#[tokio::test]
async fn a_silent_server_is_suspended_and_restarted() {
    let hub = hub_of(&ServerDefinition::hostile("deaf"), |server| {
        server.timeout = Some(Duration::from_millis(600));
    });
    for _ in 0..5 {
        let error = failure(&hub, "echo", json!({"message": "x"})).await;
        assert!(matches!(error, UpstreamError::Timeout { .. }), "{error}");
    }
    let start = Instant::now();
    let error = failure(&hub, "echo", json!({"message": "x"})).await;
    assert!(start.elapsed() < Duration::from_millis(500), "it was asked again");
    let said = error.to_string();
    for words in [
        "server 'server' is suspended: 5 calls in a row failed",
        "did not answer the call of 'echo' within 6",
        "the next attempt is allowed in",
    ] {
        assert!(said.contains(words), "{said}");
    }
    assert!(error.is_transient());
    assert!(matches!(state(&hub, "server").status, Status::Suspended { .. }));
    wait_until("its process is gone", || {
        state(&hub, "server").pid.is_none().then_some(())
    })
    .await;
    // Other requests do not start the server either.
    let question = RelayRequest {
        server: "server".to_owned(),
        method: "resources/list".to_owned(),
        params: Map::new(),
        meta: Map::new(),
        progress: None,
        deadline: tokio::time::Instant::now() + LONG,
    };
    let error = hub.ask(question).await.expect_err("left alone");
    assert!(matches!(error, UpstreamError::Suspended { .. }), "{error}");
    assert_eq!(state(&hub, "server").pid, None);
    // After the pause one call reaches a new process, and the others fail at once.
    let probe = async {
        loop {
            let error = failure(&hub, "echo", json!({"message": "x"})).await;
            match error {
                UpstreamError::Suspended { retry_in, .. } => {
                    tokio::time::sleep(retry_in.max(Duration::from_millis(5))).await;
                }
                error => break error,
            }
        }
    };
    assert!(matches!(probe.await, UpstreamError::Timeout { .. }));
    let UpstreamError::Suspended { retry_in, .. } = failure(&hub, "echo", json!({"message": "x"})).await
    else {
        panic!("open again")
    };
    assert!(retry_in > Duration::from_secs(5), "twice the pause: {retry_in:?}");
    hub.shutdown().await;
}

#[tokio::test]
async fn a_slow_start_does_not_count_as_failed_calls() {
    let hub = hub_of(&ServerDefinition::hostile("slow-start:3"), |server| {
        server.timeout = Some(Duration::from_millis(200));
    });
    for _ in 0..6 {
        let error = failure(&hub, "echo", json!({"message": "x"})).await;
        assert!(matches!(error, UpstreamError::Starting { .. }), "{error}");
        assert!(error.is_transient());
    }
    wait_until("it has started", || {
        (state(&hub, "server").status == Status::Running).then_some(())
    })
    .await;
    let answer = call(&hub, "server", "echo", json!({"message": "x"})).await;
    assert_eq!(text(&answer.expect("an answer")), "x");
    hub.shutdown().await;
}

/// Calls a tool that ends the server the first time. Returns the number of calls and the answer.
async fn call_shaky(trusted: bool, tool: &str) -> (usize, Result<Value, UpstreamError>) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("calls");
    let hub = hub_of(&ServerDefinition::stub_with_extras(), |server| {
        server.trusted = trusted;
    });
    hub.list("server").await.expect("listed");
    let answer = call(&hub, "server", tool, json!({"file": file})).await;
    hub.shutdown().await;
    let calls = std::fs::read_to_string(&file).expect("it was called").len();
    (calls, answer)
}

#[tokio::test]
async fn a_call_is_repeated_only_where_a_trusted_server_says_that_it_may_be() {
    let (calls, answer) = call_shaky(true, "steady").await;
    assert_eq!((calls, text(&answer.expect("an answer"))), (2, "2"));
    for (trusted, tool) in [(true, "shaky"), (false, "steady"), (false, "shaky")] {
        let (calls, answer) = call_shaky(trusted, tool).await;
        let error = answer.expect_err("it ended");
        assert!(matches!(error, UpstreamError::Gone { .. }), "{error}");
        assert_eq!(calls, 1, "{trusted} {tool}");
    }
}

/// Number of servers' control groups made by this process.
fn groups() -> usize {
    let own = format!("codeyard-servers-{:x}-", std::process::id());
    let found = |directory: &Path| {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        entries
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(&own))
            .count()
    };
    ["memory", "pids", "cpu", "cpuacct", ""]
        .map(|name| found(&Path::new("/sys/fs/cgroup").join(name)))
        .iter()
        .sum()
}

#[tokio::test]
async fn limits_hold_with_control_groups_and_are_reported_missing_without() {
    let hub = hub_of(&ServerDefinition::stub_with_extras(), |server| {
        stdio(server).limits = ServerLimits {
            memory: Some(96 << 20),
            processes: Some(12),
        };
    });
    let answer = call(&hub, "server", "take", json!({"bytes": 1 << 20})).await;
    assert_eq!(text(&answer.expect("an answer")), "1048576");
    let warnings = state(&hub, "server").warnings;
    if warnings
        .iter()
        .any(|warning| warning.contains("its `limits` are not enforced: "))
    {
        assert!(
            warnings.iter().any(|warning| warning.contains("for hard limits")),
            "{warnings:?}"
        );
        hub.shutdown().await;
        return;
    }
    let answer = call(&hub, "server", "fork", json!({"times": 50})).await;
    let answer = answer.expect("an answer");
    assert!(
        text(&answer).contains("Resource temporarily unavailable"),
        "{answer}"
    );
    let error = failure(&hub, "take", json!({"bytes": 400 << 20}))
        .await
        .to_string();
    assert!(
        error.contains("SIGKILL") && error.contains("`limits.memory`"),
        "{error}"
    );
    // The next process has a new group.
    assert!(!is_gone(pid(&hub).await));
    hub.shutdown().await;
    drop(hub);
    wait_until("its groups are gone", || (groups() == 0).then_some(())).await;
}
