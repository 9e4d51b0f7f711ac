//! Tool calls: from a name to an answer, and every way they are refused or fail.

use std::time::Instant;

use broker::RelayError;
use policy::Denied;
use test_support::wait_until;
use types::ToolRef;
use upstream::RelayRequest;
use upstream_wire::Http;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn every_spelling_of_a_name_reaches_the_tool() {
    let world = World::new(&[("my-stub", ServerDefinition::stub())]);
    for (server, tool) in [
        ("my-stub", "list-things"),
        ("my_stub", "list_things"),
        ("My-Stub", "List_Things"),
        ("", "list_things"),
        ("", "list-things"),
    ] {
        let answer = world.tool(server, tool, json!({})).await;
        let things = &answer.expect("an answer")["structuredContent"]["things"];
        assert_eq!(things[0], "lamp", "{server}.{tool}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_keeps_all_its_fields() {
    let world = World::new(&[("stub", ServerDefinition::stub_with_extras())]);
    let result = json!({
        "content": [{"type": "hologram", "data": [1, 2.5, null]}, {"type": "text", "text": "x", "own": true}],
        "structuredContent": {"z": 1, "a": {"b": []}},
        "isError": false,
        "_meta": {"example.com/a": "b"},
        "unknown": [{}],
    });
    let answer = world.tool("stub", "raw", json!({"result": result})).await;
    assert_eq!(answer.expect("an answer"), result);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_that_a_tool_reports_is_an_answer() {
    let world = World::new(&[("stub", ServerDefinition::stub())]);
    let answer = world
        .tool("stub", "fail", json!({"message": "nope"}))
        .await
        .expect("an answer");
    assert_eq!(
        (&answer["isError"], &answer["content"][0]["text"]),
        (&json!(true), &json!("nope"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_names_come_with_the_nearest_one() {
    let world = World::new(&[("stub", ServerDefinition::stub())]);
    let check =
        |server: &'static str, tool: &'static str, message: &'static str, hint: Option<&'static str>| {
            let world = &world;
            async move {
                check_error(
                    world.tool(server, tool, json!({})).await,
                    "unknown_tool",
                    message,
                    hint,
                )
            }
        };
    check(
        "stab",
        "add",
        "unknown server 'stab'",
        Some("did you mean 'stub'?"),
    )
    .await;
    assert!(!world.started(), "a name that is wrong starts nothing");
    check(
        "stub",
        "ad",
        "server 'stub' has no tool 'ad'",
        Some("did you mean 'add'?"),
    )
    .await;
    check(
        "",
        "list_thing",
        "no single tool is named 'list_thing'",
        Some("did you mean 'list-things'?"),
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_arguments_do_not_leave() {
    let world = World::new(&[("stub", ServerDefinition::stub_with_extras())]);
    let check = |args: Value, message: &'static str| {
        let world = &world;
        async move {
            let answer = world.tool("stub", "add", args).await;
            check_error(
                answer,
                "invalid_arguments",
                message,
                Some("add(a: float, b: float)"),
            );
        }
    };
    check(json!({"a": 1}), "stub.add: missing required argument 'b': float").await;
    check(
        json!({"a": 1, "b": "2"}),
        "stub.add: argument 'b' must be float, not str '2'",
    )
    .await;
    check(
        json!([1, 2]),
        "stub.add: the arguments must be one mapping of names to values, not list",
    )
    .await;
    let calls = world.tool("stub", "calls", json!({})).await.expect("an answer");
    assert_eq!(calls["structuredContent"]["calls"], 1, "only this call arrived");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_tool_is_not_called_and_its_server_not_started() {
    let rules = Rules {
        deny: &["stub/add"],
        ..Rules::default()
    };
    let world = World::with(rules, &[("stub", ServerDefinition::stub())]);
    let refusal = "tool 'stub.add' is denied by policy (deny rule 'stub/add')";
    check_error(
        world.tool("stub", "add", json!({"a": 1, "b": 2})).await,
        "denied",
        refusal,
        None,
    );
    assert!(!world.started());
    assert!(world.tool("stub", "echo", json!({"message": "x"})).await.is_ok());
    // Also in other spellings, by the bare name, and with wrong arguments.
    check_error(
        world.tool("STUB", "Add", json!({})).await,
        "denied",
        refusal,
        None,
    );
    check_error(world.tool("", "add", json!({})).await, "denied", refusal, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_a_login_is_hidden_from_everyone_but_its_owner() {
    let directory = tempfile::tempdir().expect("a directory");
    let login = directory.path().join("far.json");
    std::fs::write(&login, "{}").expect("written");
    let far = ServerConfig {
        name: "far".to_owned(),
        transport: Transport::Http(Http {
            url: "https://far.example.com/mcp".to_owned(),
            ..Http::default()
        }),
        ..ServerConfig::default()
    };
    let owner = Principal::local();
    let logins = Logins::of(&owner, directory.path());
    let servers = vec![far, server("near", &ServerDefinition::stub())];
    let world = World::of(Rules::default(), servers, Some(logins));
    let broker = &world.broker;
    let tool = ToolRef::new("far", "find");
    let other = Principal::new("acme", "ann").expect("a principal");
    assert_eq!(broker.server_names(&owner).await, ["far", "near"]);
    assert_eq!(broker.server_names(&other).await, ["near"]);
    assert!(broker.admit(&owner, &tool).is_ok());
    let denied = Denied::without_rule(&tool);
    assert_eq!(broker.admit(&other, &tool), Err(denied.clone()));
    let call = HostCall {
        name: "tool".to_owned(),
        args: json!({"server": "far", "tool": "find", "args": {}}),
    };
    let calls = broker.calls(other.clone(), scope());
    let answer = calls.call(call, context(LONG)).await;
    check_error(answer.map(|_| Value::Null), "denied", &denied.to_string(), None);
    let request = RelayRequest {
        server: "far".to_owned(),
        method: "resources/list".to_owned(),
        params: serde_json::Map::new(),
        meta: serde_json::Map::new(),
        progress: None,
        deadline: tokio::time::Instant::now() + LONG,
    };
    let answer = broker
        .relay(&other, None, request, &CancellationToken::new())
        .await;
    assert!(matches!(answer, Err(RelayError::Denied(_))));
    assert!(!world.started());
    // Without a login the server is like any other.
    std::fs::remove_file(&login).expect("removed");
    assert_eq!(broker.server_names(&other).await, ["far", "near"]);
    assert!(broker.admit(&other, &tool).is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn own_tools_cannot_be_called_from_a_program() {
    let world = World::new(&[("stub", ServerDefinition::stub())]);
    for (server, tool) in [
        ("", "execute_code"),
        ("", "search_tools"),
        ("codeyard", "execute_code"),
        ("", "shell_exec"),
    ] {
        let message = format!("Nested invocation of meta-tool '{tool}' is not allowed");
        let hint = "a program already runs; call the tools of connected servers";
        check_error(
            world.tool(server, tool, json!({"code": "1"})).await,
            "denied",
            &message,
            Some(hint),
        );
    }
    assert!(!world.started());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_waits_no_longer_than_its_run_may_last() {
    let world = World::new(&[("stub", ServerDefinition::stub())]);
    world
        .tool("stub", "pid", json!({}))
        .await
        .expect("a running server");
    let args = json!({"server": "stub", "tool": "slow", "args": {"seconds": 60}});
    let error = world
        .ask_within(Duration::from_millis(200), "tool", args)
        .await
        .expect_err("too slow");
    assert_eq!((error.kind.name(), error.retryable), ("timeout", true));
    assert!(
        error.message.starts_with("server 'stub' did not answer"),
        "{}",
        error.message
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_dropped_is_cancelled_upstream() {
    let world = World::new(&[("stub", ServerDefinition::stub_with_extras())]);
    world
        .tool("stub", "pid", json!({}))
        .await
        .expect("a running server");
    let count = async |tool: &str, key: &str| {
        let answer = world.tool("stub", tool, json!({})).await.expect("an answer");
        answer["structuredContent"][key].clone()
    };
    let begun = async {
        // `pid` was the first call and each count adds one: the missing count is `slow`.
        let mut counts = 0;
        while count("calls", "calls").await != json!(counts + 3) {
            counts += 1;
        }
    };
    tokio::select! {
        biased;
        _ = world.tool("stub", "slow", json!({"seconds": 600})) => panic!("ten minutes are over"),
        () = begun => {}
    }
    while count("cancelled", "ids").await == json!([]) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_fails_its_calls_and_works_again() {
    let world = World::new(&[
        ("stub", ServerDefinition::stub()),
        ("other", ServerDefinition::stub()),
    ]);
    let error = world
        .tool("stub", "crash", json!({}))
        .await
        .expect_err("it ended");
    assert_eq!((error.kind.name(), error.retryable), ("upstream", true));
    assert!(
        error.message.contains("'stub'") && error.message.contains("crash was called"),
        "{}",
        error.message
    );
    assert!(world.tool("other", "pid", json!({})).await.is_ok());
    loop {
        match world.tool("stub", "pid", json!({})).await {
            Ok(_) => break,
            Err(error) => assert!(error.retryable, "{}", error.message),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_start_says_why() {
    let world = World::new(&[("gone", ServerDefinition::new("/no/such/program", &[]))]);
    let error = world.tool("gone", "x", json!({})).await.expect_err("no program");
    assert_eq!(error.kind.name(), "upstream");
    assert!(
        error.message.starts_with("server 'gone' did not start"),
        "{}",
        error.message
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_work_side_by_side() {
    let world = World::new(&[("stub", ServerDefinition::stub())]);
    world
        .tool("stub", "pid", json!({}))
        .await
        .expect("a running server");
    let calls = world.broker.calls(Principal::local(), scope());
    let started = Instant::now();
    let tasks: Vec<_> = (0..50)
        .map(|_| {
            let calls = calls.clone();
            let args = json!({"server": "stub", "tool": "slow", "args": {"seconds": 0.5}});
            tokio::spawn(async move {
                calls
                    .call(
                        HostCall {
                            name: "tool".to_owned(),
                            args,
                        },
                        context(LONG),
                    )
                    .await
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("no panic").expect("an answer");
    }
    // In sequence they would take 25 seconds.
    assert!(
        started.elapsed() < Duration::from_secs(12),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_is_added_later_is_found() {
    let world = World::new(&[("stub", ServerDefinition::stub_with_extras())]);
    check_error(
        world.tool("stub", "grown_1", json!({})).await,
        "unknown_tool",
        "server 'stub' has no tool 'grown_1'",
        Some("did you mean 'grow'?"),
    );
    let lists = world.hub.tools();
    let count = || lists.borrow()[0].tools.as_ref().map_or(0, |tools| tools.len());
    let before = count();
    world.tool("stub", "grow", json!({})).await.expect("an answer");
    wait_until("a longer list", || (count() == before + 1).then_some(())).await;
    let answer = world
        .ask("tools", json!({"server": "stub"}))
        .await
        .expect("an answer");
    let tools = answer["tools"].as_array().expect("tools");
    assert!(tools.iter().any(|tool| tool["name"] == "grown_1"), "{answer}");
}
