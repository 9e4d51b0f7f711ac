//! Replaced definitions: what stays, what ends, and how calls fare in the meantime.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use test_support::{ServerDefinition, is_gone, stub_server, wait_until};
use upstream::{Hub, HubConfig, ServerConfig, Status, UpstreamError};

use crate::{call, config, hub, is_running, server_config, snapshot, state, text, tool_names};

fn definitions(servers: &[(&str, ServerDefinition)]) -> Vec<ServerConfig> {
    let config = |(name, definition): &(&str, ServerDefinition)| server_config(name, definition);
    servers.iter().map(config).collect()
}

fn names(hub: &Hub) -> Vec<String> {
    let all = hub.tools().borrow().clone();
    all.iter().map(|server| server.name.clone()).collect()
}

async fn pid(hub: &Hub, server: &str) -> u32 {
    let answer = call(hub, server, "pid", json!({})).await.expect("an answer");
    let pid = answer["structuredContent"]["pid"].as_u64();
    pid.and_then(|pid| u32::try_from(pid).ok())
        .expect("a process number")
}

async fn wait_for_end(pid: u32) {
    wait_until("the process is gone", || is_gone(pid).then_some(())).await;
}

#[tokio::test]
async fn an_unchanged_definition_keeps_its_process_and_its_list_in_its_new_place() {
    let hub = hub(&[
        ("gone", ServerDefinition::stub()),
        ("kept", ServerDefinition::stub()),
    ]);
    let (gone, kept) = (pid(&hub, "gone").await, pid(&hub, "kept").await);
    hub.list("kept").await.expect("listed");
    let mut news = hub.tools();
    news.mark_unchanged();
    hub.replace(definitions(&[
        ("gone", ServerDefinition::stub()),
        ("kept", ServerDefinition::stub()),
    ]));
    assert!(!news.has_changed().expect("a hub"), "nothing is new");
    hub.replace(definitions(&[
        ("new", ServerDefinition::stub_with_extras().cwd("/".as_ref())),
        ("kept", ServerDefinition::stub()),
    ]));
    assert!(news.has_changed().expect("a hub"), "nobody was told");
    assert_eq!(names(&hub), ["new", "kept"]);
    assert!(tool_names(&hub, "kept").is_some_and(|tools| tools.contains(&"echo".to_owned())));
    assert_eq!(pid(&hub, "kept").await, kept);
    wait_for_end(gone).await;
    let error = call(&hub, "gone", "pid", json!({})).await.expect_err("gone");
    assert!(matches!(error, UpstreamError::UnknownServer { .. }), "{error}");
    // Its first call starts the new server, and its list is at its new index.
    assert_eq!(state(&hub, "new").status, Status::Idle);
    assert_eq!(snapshot(&hub, "new").cwd.as_deref(), Some("/".as_ref()));
    hub.list("new").await.expect("listed");
    assert!(tool_names(&hub, "new").is_some_and(|tools| tools.contains(&"environment".to_owned())));
    assert!(tool_names(&hub, "kept").is_some_and(|tools| !tools.contains(&"environment".to_owned())));
    hub.shutdown().await;
}

#[tokio::test]
async fn a_changed_definition_gets_a_process_of_its_own() {
    let hub = hub(&[("stub", ServerDefinition::stub())]);
    let before = pid(&hub, "stub").await;
    hub.replace(definitions(&[("stub", ServerDefinition::stub().env("A", "1"))]));
    let after = pid(&hub, "stub").await;
    assert_ne!(before, after);
    wait_for_end(before).await;
    hub.replace(Vec::new());
    assert_eq!(names(&hub), [""; 0]);
    wait_for_end(after).await;
}

#[tokio::test]
async fn calls_under_way_on_a_server_that_is_taken_away_are_answered() {
    let hub = hub(&[("stub", ServerDefinition::stub())]);
    let before = pid(&hub, "stub").await;
    let slow = call(&hub, "stub", "slow", json!({"seconds": 1}));
    let replace = async {
        // `slow` was already sent: this answer came after it on the same pipe.
        pid(&hub, "stub").await;
        hub.replace(Vec::new());
        assert!(!is_gone(before));
    };
    let (slow, ()) = tokio::join!(slow, replace);
    assert_eq!(text(&slow.expect("an answer")), "done");
    wait_for_end(before).await;
}

#[tokio::test]
async fn the_end_of_the_hub_waits_for_no_call_of_a_retired_server() {
    let hub = hub(&[("stub", ServerDefinition::stub())]);
    let before = pid(&hub, "stub").await;
    let slow = call(&hub, "stub", "slow", json!({"seconds": 600}));
    let end = async {
        pid(&hub, "stub").await;
        hub.replace(Vec::new());
        let ended = tokio::time::timeout(Duration::from_secs(20), hub.shutdown()).await;
        ended.expect("in time");
        assert!(is_gone(before));
        hub.replace(definitions(&[("late", ServerDefinition::stub())]));
        assert_eq!(names(&hub), [""; 0], "replaced after the end");
    };
    let (slow, ()) = tokio::join!(slow, end);
    let error = slow.expect_err("ended").to_string();
    assert!(error.contains("definition was changed or removed"), "{error}");
}

#[tokio::test]
async fn the_list_of_a_changed_definition_comes_from_the_cache() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let hub = Hub::new(HubConfig {
        cache_dir: Some(directory.path().to_owned()),
        log_dir: None,
        ..config(&[("stub", ServerDefinition::stub())])
    });
    hub.list("stub").await.expect("listed");
    hub.replace(definitions(&[(
        "stub",
        ServerDefinition::stub().description("other words"),
    )]));
    hub.ready().await;
    assert!(tool_names(&hub, "stub").is_some(), "asked again");
    assert_eq!(snapshot(&hub, "stub").description.as_deref(), Some("other words"));
    assert!(!is_running(&hub, "stub"));
    hub.shutdown().await;
}

#[tokio::test]
async fn replacing_is_safe_beside_calls_and_discoveries() {
    let set = |round: u32| {
        let own = ServerDefinition::stub().env("ROUND", round.to_string());
        definitions(&[("kept", ServerDefinition::stub()), ("changing", own)])
    };
    let hub = Hub::new(HubConfig {
        servers: set(0),
        ..config(&[])
    });
    let kept = pid(&hub, "kept").await;
    let replace = async {
        for round in 1..8 {
            hub.replace(set(round));
            pid(&hub, "kept").await;
        }
    };
    let calls = join_all((0..20).map(|_| call(&hub, "changing", "echo", json!({"message": "x"}))));
    let discoveries = join_all((0..4).map(|_| hub.discover(Duration::from_secs(30))));
    let ((), calls, _) = tokio::join!(replace, calls, discoveries);
    for outcome in calls {
        match outcome {
            Ok(answer) => assert_eq!(text(&answer), "x"),
            Err(error) => assert!(matches!(error, UpstreamError::Replaced { .. }), "{error}"),
        }
    }
    assert_eq!(hub.discover(Duration::from_secs(30)).await, [""; 0]);
    assert_eq!(names(&hub), ["kept", "changing"]);
    assert_eq!(pid(&hub, "kept").await, kept);
    hub.shutdown().await;
}

async fn depth(hub: &Hub, server: &str) -> Value {
    let answer = call(hub, server, "environment", json!({}))
        .await
        .expect("an answer");
    answer["structuredContent"]["CODEYARD_DEPTH"].clone()
}

// C319
#[tokio::test]
async fn an_allowed_self_reference_knows_how_deep_it_is() {
    let script = format!("exec '{}' stub --extras", stub_server().display());
    let own = ServerDefinition::new("/bin/sh", &["-c", &script]);
    let config = config(&[("own", own), ("other", ServerDefinition::stub_with_extras())]);
    let hub = |allow_self| {
        Hub::new(HubConfig {
            own_executable: "/bin/sh".into(),
            allow_self,
            ..config.clone()
        })
    };
    assert_eq!(names(&hub(false)), ["other"]);
    let hub = hub(true);
    assert_eq!(names(&hub), ["own", "other"]);
    assert_eq!(depth(&hub, "own").await, json!("1"));
    assert_eq!(depth(&hub, "other").await, Value::Null);
    hub.shutdown().await;
}
