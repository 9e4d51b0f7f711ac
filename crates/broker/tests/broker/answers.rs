//! Answers of the other host calls: servers, tools, search, the manual; and the files that describe tools.

use std::time::Instant;

use super::*;

fn two() -> [(&'static str, ServerDefinition); 2] {
    [
        ("my-stub", ServerDefinition::stub()),
        (
            "time",
            ServerDefinition::replay("time").description("Clocks and zones"),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_are_listed_without_starting_any() {
    let world = World::new(&two());
    let answer = world.ask("servers", json!({})).await.expect("an answer");
    let expected = json!([
        {"name": "my-stub", "alias": "my_stub", "description": "Stub server", "listed": false},
        {"name": "time", "alias": "time", "description": "Clocks and zones", "listed": false},
    ]);
    assert_eq!(answer, expected);
    assert!(!world.started());

    world
        .ask("tools", json!({"server": "my_stub"}))
        .await
        .expect("an answer");
    let answer = world.ask("servers", json!({})).await.expect("an answer");
    assert_eq!(
        (&answer[0]["listed"], &answer[1]["listed"]),
        (&json!(true), &json!(false))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_one_server() {
    let world = World::new(&two());
    let names = |answer: &Value| -> Vec<String> {
        let tools = answer["tools"].as_array().expect("tools");
        tools
            .iter()
            .map(|tool| tool["name"].as_str().expect("a name").to_owned())
            .collect()
    };
    let summary = world
        .ask("tools", json!({"server": "time"}))
        .await
        .expect("an answer");
    assert_eq!(names(&summary), ["get_current_time", "convert_time"]);
    insta::assert_json_snapshot!("tools_summary", summary);
    let full = world
        .ask("tools", json!({"server": "time", "detail": "full"}))
        .await
        .expect("an answer");
    assert_eq!(
        full["tools"][1]["inputSchema"]["required"],
        json!(["source_timezone", "time", "target_timezone"])
    );
    assert!(full["tools"][1]["outputSchema"].is_object());
    let error = world
        .ask("tools", json!({"server": "tim"}))
        .await
        .expect_err("unknown");
    assert_eq!(
        (error.kind.name(), error.hint.as_deref()),
        ("unknown_tool", Some("did you mean 'time'?"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_asks_every_server_and_ranks_their_tools() {
    let world = World::new(&two());
    let answer = world
        .ask("search", json!({"query": "convert time zone", "limit": 1}))
        .await
        .expect("an answer");
    insta::assert_json_snapshot!("search_summary", answer);
    let names = json!({"query": "convert time zone", "limit": 1, "detail": "name"});
    let answer = world.ask("search", names).await.expect("an answer");
    assert_eq!(
        answer["tools"],
        json!([{"server": "time", "tool": "convert_time"}])
    );
    let full = json!({"query": "list things", "limit": 1, "detail": "full"});
    let answer = world.ask("search", full).await.expect("an answer");
    let stub = answer["tools"][0]["stub"].as_str().expect("a stub");
    assert!(stub.contains("async def list_things("), "{stub}");
    let all = world
        .ask("search", json!({"query": "", "limit": 50}))
        .await
        .expect("an answer");
    assert_eq!(
        (all["tools"].as_array().map(Vec::len), &all["more"]),
        (Some(13), &json!(0))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_does_not_wait_for_a_server_that_is_slow_to_start() {
    let world = World::new(&[
        ("slow", ServerDefinition::hostile("slow-start:60")),
        ("gone", ServerDefinition::new("/no/such/program", &[])),
        ("stub", ServerDefinition::stub()),
    ]);
    let started = Instant::now();
    let answer = world
        .ask("search", json!({"query": "add", "limit": 1}))
        .await
        .expect("an answer");
    assert!(
        started.elapsed() < Duration::from_secs(15),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(answer["tools"][0]["tool"], "add");
    assert_eq!(answer["pending"], json!(["slow"]));
    world.hub.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_not_be_called_is_not_shown() {
    let rules = Rules {
        allow: &["my-stub.*"],
        deny: &["*.add"],
    };
    let world = World::with(rules, &two());
    let found = world
        .ask("search", json!({"query": "add numbers time", "limit": 50}))
        .await
        .expect("an answer");
    assert!(
        !found.to_string().contains("add\"") && !found.to_string().contains("convert_time"),
        "{found}"
    );
    let tools = world
        .ask("tools", json!({"server": "my-stub"}))
        .await
        .expect("an answer");
    assert_eq!(tools["tools"].as_array().map(Vec::len), Some(10));
    let files = world.files_of("my_stub").await;
    assert!(!files.contains_key("add.py") && !files["__init__.py"].contains("add"));
}

#[tokio::test(flavor = "multi_thread")]
async fn stubs_are_files_by_alias() {
    let world = World::new(&two());
    world
        .ask("tools", json!({"server": "my-stub"}))
        .await
        .expect("an answer");
    let files = world.files_of("my_stub").await;
    let names: Vec<&String> = files.keys().collect();
    let tools = [
        "add",
        "big",
        "contact",
        "crash",
        "cwd",
        "echo",
        "fail",
        "list_things",
        "pid",
        "send",
        "slow",
    ];
    let mut expected: Vec<String> = ["__init__.py", "_meta.json", "index.d.ts"]
        .map(str::to_owned)
        .into();
    expected.extend(
        tools
            .iter()
            .flat_map(|tool| [format!("{tool}.py"), format!("{tool}.ts")]),
    );
    expected.sort();
    let expected: Vec<&String> = expected.iter().collect();
    assert_eq!(names, expected);
    insta::assert_snapshot!("stub_of_add", files["add.py"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_manual_is_there() {
    let world = World::new(&[]);
    let answer = world.ask("manual", json!({})).await.expect("an answer");
    let text = answer["text"].as_str().expect("text");
    assert!(text.contains("await tools."), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_host_calls_are_refused() {
    let world = World::new(&two());
    let check = |name: &'static str, args: Value, kind: &'static str, message: &'static str| {
        let world = &world;
        async move { check_error(world.ask(name, args).await, kind, message, None) }
    };
    check("tol", json!({}), "unknown_call", "unknown host call \"tol\"").await;
    check(
        "tool",
        json!({"server": "time"}),
        "invalid_arguments",
        "'tool' is missing",
    )
    .await;
    check(
        "tool",
        json!({"server": 5, "tool": "x"}),
        "invalid_arguments",
        "'server' must be a string",
    )
    .await;
    check(
        "tool",
        json!([1]),
        "invalid_arguments",
        "the arguments of a host call must be an object",
    )
    .await;
    check("tools", json!({}), "invalid_arguments", "'server' is missing").await;
    let limit = "'limit' must be an integer from 1 to 50, not -1";
    check(
        "search",
        json!({"query": "x", "limit": -1}),
        "invalid_arguments",
        limit,
    )
    .await;
    let detail = "'detail' must be 'name', 'summary' or 'full'";
    check(
        "search",
        json!({"query": "x", "detail": "all"}),
        "invalid_arguments",
        detail,
    )
    .await;
    assert!(!world.started());
}
