//! The surface `bridge` of virtual servers: the reach of each user's programs, without anything of the gateway's own
//! user.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use test_support::{BridgeResult, Codeyard, PostgresServer, ServerDefinition};

use super::actors::{ADMIN, AL2, ALICE, Actor, BOB};
use super::running::{Gateway, installation, until};
use super::upstreams::{body, remote};
use crate::http::served::modern;

const ECHO: &str = "print(await mcp_stub.echo(message='hi'))";

/// A virtual server of team-a, with further members.
async fn bridge(gateway: &Gateway, more: &Value) -> String {
    let mut members = json!({"surface": "bridge"});
    members
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    gateway.cs_a(&members).await
}

/// A run over JSON-RPC.
async fn run_with(gateway: &Gateway, actor: &Actor, id: &str, arguments: Value) -> BridgeResult {
    let params = json!({"server_id": id, "name": "run_python", "arguments": arguments});
    let mut answer = gateway.rpc(actor, "tools/call", params).await;
    assert!(answer["result"].is_object(), "{answer}");
    BridgeResult(answer["result"].take())
}

async fn run(gateway: &Gateway, actor: &Actor, id: &str, code: &str) -> BridgeResult {
    run_with(gateway, actor, id, json!({"code": code, "servers": ["stub"]})).await
}

#[track_caller]
fn check(ran: &BridgeResult, text: &str) {
    assert_eq!((ran.text(), ran.is_error()), (text, false), "{ran:?}");
}

/// The acceptance cases of the surface at one gateway.
async fn cases(gateway: &Gateway) {
    let remote = remote(gateway).await;
    let of_b = body("far1", &remote, &json!({"team_id": "team-b"}));
    gateway.ask(&ADMIN, "POST /upstreams", of_b, 201).await;
    let more = body("more", &remote, &json!({"team_id": "team-a", "tags": ["more"]}));
    gateway.ask(&ADMIN, "POST /upstreams", more, 201).await;
    let rules = json!({"mount_rules": {"exclude_tags": ["more"]}});
    let id = bridge(gateway, &rules).await;

    let listed = gateway.rpc(&ALICE, "tools/list", json!({"server_id": id})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 1, "{listed}");
    assert_eq!(tools[0]["name"], "run_python");
    assert_eq!(tools[0]["inputSchema"]["properties"]["timeout"]["maximum"], 30);
    check(&run(gateway, &ALICE, &id, ECHO).await, "hi");

    // A program reaches the servers that its call names and the virtual server mounts, for this caller.
    let unloaded = run_with(gateway, &ALICE, &id, json!({"code": ECHO})).await;
    assert!(unloaded.is_error(), "{unloaded:?}");
    let mut answers = BTreeSet::new();
    for server in ["far1", "more", "nope"] {
        let refused = run_with(gateway, &ALICE, &id, json!({"code": "1", "servers": [server]})).await;
        let called = format!("await runtime.call_tool('{server}', 'add', {{'a': 2, 'b': 3}})");
        let within = run(gateway, &ALICE, &id, &called).await;
        assert!(refused.is_error() && within.is_error(), "{refused:?} {within:?}");
        answers.insert(format!("{} {}", refused.text(), within.text()).replace(server, "SERVER"));
    }
    assert_eq!(
        answers.len(),
        1,
        "a hidden server must look like an unknown one: {answers:?}"
    );
    assert!(
        answers
            .iter()
            .any(|text| text.contains("Unknown MCP server: SERVER")),
        "{answers:?}"
    );
    assert!(remote.seen_of("tools/call").is_empty());
    check(
        &run(gateway, &ALICE, &id, "print(runtime.discovered_servers())").await,
        "('stub',)",
    );

    // Each user has separate variables and saved functions.
    check(
        &run(
            gateway,
            &ALICE,
            &id,
            "x = 1\ndef mine(): return 7\nsave_tool(mine)\nprint(x)",
        )
        .await,
        "1",
    );
    check(&run(gateway, &ALICE, &id, "print(x)").await, "1");
    let other = run(gateway, &AL2, &id, "print('x' in globals(), 'mine' in globals())").await;
    check(&other, "False False");

    // Unknown ids and other teams' ids get the same answer.
    for server in [id.as_str(), "unknown"] {
        let params = json!({"server_id": server, "name": "run_python", "arguments": {"code": "1"}});
        let answer = gateway.rpc(&BOB, "tools/call", params).await;
        assert_eq!(answer, json!({"detail": "Server not found"}));
    }
    let runs = gateway.get(&ALICE, &format!("/servers/{id}/code/runs")).await;
    let runs = runs.as_array().unwrap();
    assert!(runs.iter().any(|run| run["status"] == "completed"), "{runs:?}");
    assert!(
        runs.iter().all(|run| run["user_email"] == ALICE.email),
        "{runs:?}"
    );
}

#[tokio::test]
async fn programs_reach_named_and_mounted_servers_only() {
    cases(&Gateway::with_stub().await).await;
}

#[tokio::test]
async fn the_cases_of_bridge_hold_on_postgres() {
    let postgres = PostgresServer::start().unwrap();
    let url = postgres.make("gateway").unwrap();
    cases(&Gateway::start(installation().env("CODEYARD_DATABASE_URL", &url)).await).await;
}

/// All sources of definitions of the local bridge.
fn with_local_definitions(codeyard: Codeyard) -> Codeyard {
    let local = json!({"mcpServers": {"local": ServerDefinition::stub().to_json()}}).to_string();
    let codeyard = codeyard
        .home_file("MCPs/local.json", &local)
        .unwrap()
        .home_file(".config/mcp/servers/local.json", &local)
        .unwrap()
        .home_file("of_variable.json", &local)
        .unwrap();
    let file = codeyard.home_directory().join("of_variable.json");
    codeyard
        .env("MCP_SERVERS_CONFIG", file)
        .env("MCP_BRIDGE_EXTRA_CONFIG", "1")
        .env("MCP_BRIDGE_ALLOW_SELF_SERVER", "1")
        .env("MCP_BRIDGE_MAX_TIMEOUT", "3600")
        .env("MCP_BRIDGE_RUNTIME", "podman")
}

#[tokio::test]
async fn files_and_variables_of_the_gateway_s_user_define_no_server() {
    let gateway = Gateway::start(with_local_definitions(installation())).await;
    let id = bridge(&gateway, &json!({})).await;
    check(&run(&gateway, &ALICE, &id, ECHO).await, "hi");
    check(
        &run(&gateway, &ALICE, &id, "print(runtime.discovered_servers())").await,
        "('stub',)",
    );
    let local = run_with(&gateway, &ALICE, &id, json!({"code": "1", "servers": ["local"]})).await;
    assert!(
        local
            .text()
            .contains("Unknown MCP server: local; the servers are 'stub'"),
        "{local:?}"
    );
    // A client's definitions are ignored, too.
    let entry = ServerDefinition::stub().to_json();
    let brought = json!({
        "code": "print(runtime.discovered_servers())", "servers": ["stub"], "mcpServers": {"local": entry},
        "config": "/etc/passwd",
    });
    check(&run_with(&gateway, &ALICE, &id, brought).await, "('stub',)");
    let brought = json!({"code": "1", "servers": [entry]});
    let refused = run_with(&gateway, &ALICE, &id, brought).await;
    assert!(refused.text().contains("'servers' must be a list"), "{refused:?}");
    // Other surfaces still have the operator's servers.
    let other = gateway.cs_a(&json!({})).await;
    gateway
        .check(
            (&ALICE, &other),
            "print((await tools.stub.echo(message='x'))['text'])",
            "x\n",
        )
        .await;
}

#[tokio::test]
async fn limits_and_rates_hold() {
    let gateway = Gateway::with_stub().await;
    let policy = json!({"sandbox_policy": {"max_execution_time_ms": 1500, "max_runs_per_minute": 3}});
    let id = bridge(&gateway, &policy).await;
    check(&run(&gateway, &ALICE, &id, ECHO).await, "hi");
    let endless = json!({"code": "while True: pass", "timeout": 3600});
    let ended = run_with(&gateway, &ALICE, &id, endless).await;
    assert_eq!(ended.status(), "timeout", "{ended:?}");
    check(&run(&gateway, &ALICE, &id, ECHO).await, "hi");
    let refused = run(&gateway, &ALICE, &id, ECHO).await;
    assert!(
        refused.text().contains("Rate limit exceeded: max 3 runs/minute"),
        "{refused:?}"
    );
    check(&run(&gateway, &AL2, &id, ECHO).await, "hi");
}

#[tokio::test]
async fn a_run_is_cancelled_by_its_owner_only() {
    let gateway = Gateway::with_stub().await;
    let id = bridge(&gateway, &json!({})).await;
    let call =
        json!({"server_id": id, "name": "run_python", "arguments": {"code": "import time\ntime.sleep(600)"}});
    let message = json!({"jsonrpc": "2.0", "id": "mine", "method": "tools/call", "params": call});
    let running = gateway.begin(&ALICE, "POST /rpc", &[], &message).await;
    let path = format!("/servers/{id}/code/runs");
    until("the program runs", async || {
        (gateway.get(&ALICE, &path).await[0]["status"] == "running").then_some(())
    })
    .await;
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "mine"}});
    for actor in [BOB, ALICE] {
        assert_eq!(gateway.get(&ALICE, &path).await[0]["status"], "running");
        gateway.rest(&actor, "POST /rpc", cancel.clone()).await;
    }
    assert_eq!(running.whole().await.json()["error"]["code"], -32800);
    check(&run(&gateway, &ALICE, &id, "print('healthy')").await, "healthy");
}

#[tokio::test]
async fn mcp_reaches_the_same_session() {
    let gateway = Gateway::with_stub().await;
    let id = bridge(&gateway, &json!({})).await;
    check(&run(&gateway, &ALICE, &id, "x = 7").await, "Success (no output)");
    let arguments = json!({"code": "print(x, await mcp_stub.echo(message='hi'))", "servers": ["stub"]});
    let call = modern(
        "tools/call",
        json!({"name": "run_python", "arguments": arguments}),
        None,
    );
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "run_python"),
    ];
    let place = format!("POST /servers/{id}/mcp");
    let answer = gateway.begin(&ALICE, &place, &headers, &call).await.whole().await;
    let mut answer = answer.events().pop().unwrap();
    check(&BridgeResult(answer["result"].take()), "7 hi");
}
