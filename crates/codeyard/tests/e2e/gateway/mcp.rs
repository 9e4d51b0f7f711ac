//! MCP at `/servers/{id}/mcp` and `/servers/{id}/sse`, with raw messages and with the official SDK.

use serde_json::{Value, json};
use test_support::{ClientLibrary, client_libraries};
use tokio::process::Command;

use super::actors::{AL2, ALICE, ANA, Actor, BOB, VIC};
use super::running::Gateway;
use crate::http::served::{initialize, modern};

/// A run in the era without sessions; returns the answer.
async fn run(gateway: &Gateway, actor: &Actor, id: &str, code: &str) -> Value {
    let arguments = json!({"code": code, "language": "python"});
    let call = modern(
        "tools/call",
        json!({"name": "shell_exec", "arguments": arguments}),
        None,
    );
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "shell_exec"),
    ];
    let answer = gateway
        .begin(actor, &format!("POST /servers/{id}/mcp"), &headers, &call)
        .await
        .whole()
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.events().pop().unwrap()
}

/// Opens a session; returns its id.
async fn open(gateway: &Gateway, actor: &Actor, id: &str) -> String {
    let place = format!("POST /servers/{id}/mcp");
    let answer = gateway
        .begin(actor, &place, &[], &initialize())
        .await
        .whole()
        .await;
    let session = answer.header("mcp-session-id").unwrap().to_owned();
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    gateway
        .begin(actor, &place, &[("mcp-session-id", &session)], &initialized)
        .await
        .whole()
        .await;
    session
}

/// A run in a session; returns the response's status and last message.
async fn run_in(gateway: &Gateway, actor: &Actor, id: &str, session: &str, code: &str) -> (u16, Value) {
    let params = json!({"name": "shell_exec", "arguments": {"code": code, "language": "python"}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let headers = [("mcp-session-id", session)];
    let answer = gateway
        .begin(actor, &format!("POST /servers/{id}/mcp"), &headers, &call)
        .await
        .whole()
        .await;
    (answer.status, answer.events().pop().unwrap_or_default())
}

fn output(answer: &Value) -> &str {
    answer["result"]["structuredContent"]["output"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
}

#[tokio::test]
async fn s0_28_s0_53_a_user_has_one_session_of_a_language_over_every_way_in() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    gateway
        .check((&ALICE, &id), "write_file('f', 'x'); kept = 1", "")
        .await;
    let read = "print(read_file('f'), kept)";
    assert_eq!(output(&run(&gateway, &ALICE, &id, read).await), "x 1\n");
    let (one, other) = (
        open(&gateway, &ALICE, &id).await,
        open(&gateway, &ALICE, &id).await,
    );
    run_in(&gateway, &ALICE, &id, &one, "write_file('f', 'y'); kept = 2").await;
    let (status, answer) = run_in(&gateway, &ALICE, &id, &other, read).await;
    assert_eq!((status, output(&answer)), (200, "y 2\n"));
    let another = run(&gateway, &AL2, &id, read).await.to_string();
    assert!(another.contains("FileNotFoundError"), "{another}");
}

#[tokio::test]
async fn s0_28_a_session_belongs_to_its_token_and_server() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    let other = gateway.cs_a(&json!({})).await;
    let session = open(&gateway, &ALICE, &id).await;
    for (actor, server, status) in [
        (AL2, &id, 404),
        (BOB, &id, 404),
        (VIC, &id, 403),
        (ALICE, &other, 404),
        (ALICE, &id, 200),
    ] {
        let (found, answer) = run_in(&gateway, &actor, server, &session, "print(1)").await;
        assert_eq!(found, status, "{}: {answer}", actor.email);
    }
    let end = format!("DELETE /servers/{id}/mcp");
    let headers = [("mcp-session-id", session.as_str())];
    assert_eq!(
        gateway
            .begin(&AL2, &end, &headers, &Value::Null)
            .await
            .whole()
            .await
            .status,
        404
    );
    assert_eq!(
        gateway
            .begin(&ALICE, &end, &headers, &Value::Null)
            .await
            .whole()
            .await
            .status,
        200
    );
    assert_eq!(run_in(&gateway, &ALICE, &id, &session, "print(1)").await.0, 404);
}

#[tokio::test]
async fn s0_16_a_change_or_removal_ends_the_sessions_of_clients() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    let session = open(&gateway, &ALICE, &id).await;
    assert_eq!(run_in(&gateway, &ALICE, &id, &session, "print(1)").await.0, 200);
    gateway
        .ask(&ALICE, &format!("PUT /servers/{id}"), json!({"tags": ["a"]}), 403)
        .await;
    assert_eq!(run_in(&gateway, &ALICE, &id, &session, "print(1)").await.0, 200);
    gateway
        .ask(&ANA, &format!("PUT /servers/{id}"), json!({"tags": ["a"]}), 200)
        .await;
    assert_eq!(run_in(&gateway, &ALICE, &id, &session, "print(1)").await.0, 404);
    let session = open(&gateway, &ALICE, &id).await;
    gateway
        .ask(&ANA, &format!("DELETE /servers/{id}"), Value::Null, 200)
        .await;
    assert_eq!(run_in(&gateway, &ALICE, &id, &session, "print(1)").await.0, 404);
}

#[tokio::test]
async fn s0_28_the_surface_code_is_chosen_by_a_member() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({"surface": "code"})).await;
    let listed = gateway.rpc(&ALICE, "tools/list", json!({"server_id": id})).await;
    let tools = listed["result"]["tools"].as_array().unwrap().iter();
    let names: Vec<&str> = tools.filter_map(|tool| tool["name"].as_str()).collect();
    assert!(names.contains(&"execute_code"), "{names:?}");
    let ran = gateway
        .call(
            &ALICE,
            &id,
            "execute_code",
            json!({"code": "return (await tools.stub.add(a=1, b=2))['sum']"}),
        )
        .await;
    assert_eq!(ran.fields()["result"], 3, "{ran:?}");
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the library's program is waited for")]
async fn s0_28_the_python_sdk_in_both_eras_and_over_sse() {
    let (_, libraries) = client_libraries().unwrap();
    let Some(ClientLibrary::Installed(python)) = libraries.get("mcp==2.3.0") else {
        println!("skipped: mcp did not install on this machine");
        return;
    };
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    let program = gateway.codeyard.work_directory().join("python_sdk.py");
    std::fs::write(&program, include_str!("python_sdk.py")).unwrap();
    let url = format!("http://{}/servers/{id}", gateway.address);
    let ran = Command::new(python)
        .arg(&program)
        .arg(url)
        .arg(gateway.token(&ALICE).await)
        .output()
        .await
        .unwrap();
    let (printed, errors) = (
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr),
    );
    assert_eq!(printed, "4 auto\n4 legacy\n4 sse\n", "{errors}");
}
