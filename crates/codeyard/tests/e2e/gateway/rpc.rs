//! `POST /rpc`: results, and errors of JSON-RPC.

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::actors::{ALICE, BOB, VIC};
use super::running::Gateway;
use crate::server_surface::programs::METRICS;

pub async fn c017_c018(gateway: &Gateway) {
    let id = gateway.cs_a(&json!({})).await;
    let call = json!({"server_id": id, "name": "shell_exec", "arguments": {"code": "print(\"hello from sandbox\")"}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call});
    let answer = gateway.ask(&ALICE, "POST /rpc", body, 200).await;
    let members: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(members, ["jsonrpc", "id", "result"], "{answer}");
    assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(1)));
    let result = &answer["result"];
    let members: Vec<&String> = result.as_object().unwrap().keys().collect();
    assert_eq!(members, ["content", "structuredContent", "isError"], "{answer}");
    let fields = &result["structuredContent"];
    assert_eq!(result["isError"], false);
    assert_eq!(
        (&fields["output"], &fields["error"]),
        (&json!("hello from sandbox\n"), &Value::Null)
    );
    assert_eq!(fields["tool_calls_made"], json!([]));
    assert!(!fields["run_id"].as_str().unwrap().is_empty());
    assert_eq!(fields["metrics"]["run_id"], fields["run_id"]);
    let metrics: Vec<&String> = fields["metrics"].as_object().unwrap().keys().collect();
    assert_eq!(metrics, METRICS);
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(&text, fields);
}

#[tokio::test]
async fn c017_c018_hello() {
    c017_c018(&Gateway::with_stub().await).await;
}

#[tokio::test]
async fn c019_c020_errors_have_the_codes_of_json_rpc() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    let token = gateway.token(&ALICE).await;
    let call = |params: Value| {
        json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}).to_string()
    };
    for (body, status, code, message) in [
        ("{\"jsonrpc\":".to_owned(), 400, -32700, "Parse error"),
        (String::new(), 400, -32700, "Parse error"),
        ("[]".to_owned(), 200, -32600, "batches are not supported"),
        (
            call(json!({"server_id": id})),
            200,
            -32602,
            "Missing tool name in parameters",
        ),
        (
            call(json!({"server_id": id, "name": "add", "arguments": {}})),
            200,
            -32601,
            "Tool not found: add",
        ),
        (
            call(json!({"server_id": id, "name": "shell_exec", "arguments": []})),
            200,
            -32602,
            "params.arguments",
        ),
        (
            call(json!({"server_id": 7, "name": "shell_exec"})),
            200,
            -32602,
            "params.server_id",
        ),
        (
            call(json!({"name": "shell_exec"})),
            200,
            -32602,
            "params.server_id: is required",
        ),
        (
            json!({"jsonrpc": "2.0", "id": 7, "method": "tools/none", "params": {"server_id": id}})
                .to_string(),
            200,
            -32601,
            "tools/none",
        ),
        (
            json!({"id": 7, "method": "ping"}).to_string(),
            200,
            -32600,
            "jsonrpc",
        ),
    ] {
        let answer = gateway
            .rest_with(Some(&token), "POST /rpc", body.as_bytes())
            .await;
        assert_eq!(answer.status, status, "{body}");
        let answer = answer.json();
        let error = &answer["error"];
        assert_eq!(error["code"], code, "{body}: {answer}");
        assert!(
            error["message"].as_str().unwrap().contains(message),
            "{body}: {answer}"
        );
        if body.contains("\"id\":7") {
            assert_eq!(answer["id"], 7, "{body}");
        }
    }
    let ping = gateway.rpc(&ALICE, "ping", json!({})).await;
    assert_eq!(ping, json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    let listed = gateway.rpc(&ALICE, "tools/list", json!({"server_id": id})).await;
    assert_eq!(listed["result"]["tools"][0]["name"], "shell_exec", "{listed}");
}

#[tokio::test]
async fn c023_s0_26_refusals_of_a_tool_are_results() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    for (tool, arguments, error) in [
        (
            "shell_exec",
            json!({"code": "x=1", "language": "ruby"}),
            "Unsupported language: ruby",
        ),
        ("shell_exec", json!({}), "code is required"),
        ("shell_exec", json!({"code": " "}), "code is required"),
        (
            "shell_exec",
            json!({"code": "1", "timeout_ms": "soon"}),
            "timeout_ms must be an integer",
        ),
        ("fs_read", json!({}), "path is required"),
        (
            "fs_read",
            json!({"path": "/etc/passwd"}),
            "outside the virtual filesystem",
        ),
    ] {
        let refused = gateway.call(&ALICE, &id, tool, arguments.clone()).await;
        assert!(
            refused.is_error() && refused.error().contains(error),
            "{arguments}: {refused:?}"
        );
        let fields = refused.fields();
        assert_eq!(
            (&fields["output"], &fields["metrics"], &fields["tool_calls_made"]),
            (&json!(""), &json!({}), &json!([]))
        );
    }
}

#[tokio::test]
async fn s0_27_a_request_is_cancelled_by_its_owner_only() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    let call =
        json!({"server_id": id, "name": "shell_exec", "arguments": {"code": "import time\ntime.sleep(600)"}});
    let body = json!({"jsonrpc": "2.0", "id": "mine", "method": "tools/call", "params": call});
    let running = gateway.begin(&ALICE, "POST /rpc", &[], &body).await;
    let path = format!("/servers/{id}/code/runs");
    while gateway.get(&ALICE, &path).await[0]["status"] != "running" {}
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "mine"}});
    for actor in [BOB, ALICE] {
        assert_eq!(gateway.get(&ALICE, &path).await[0]["status"], "running");
        assert_eq!(
            gateway.rest(&actor, "POST /rpc", cancel.clone()).await.status,
            202
        );
    }
    let answer = running.whole().await.json();
    assert_eq!(answer["id"], "mine");
    assert_eq!(
        answer["error"],
        json!({"code": -32800, "message": "Tool execution cancelled: shell_exec"})
    );
    while gateway.get(&ALICE, &path).await[0]["status"] == "running" {}
    gateway
        .check((&ALICE, &id), "print('healthy')", "healthy\n")
        .await;
}

#[tokio::test]
async fn s0_81_a_call_needs_the_use_permission() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    let call = json!({"server_id": id, "name": "shell_exec", "arguments": {"code": "print(1)"}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call});
    let needs = (
        403,
        r#"{"detail":"Insufficient permissions. Required: servers.use"}"#,
    );
    gateway.check_refused(&VIC, "POST /rpc", body, needs).await;
}

#[tokio::test]
async fn c126_concurrent_runs_have_their_own_output() {
    let gateway = std::sync::Arc::new(Gateway::with_stub().await);
    let id = gateway.cs_a(&json!({})).await;
    gateway.token(&ALICE).await;
    let mut runs = JoinSet::new();
    for number in 0..10 {
        let (gateway, id) = (gateway.clone(), id.clone());
        runs.spawn(async move {
            let code = format!("import time;time.sleep(0.3);print({number})");
            let ran = gateway.sh(&ALICE, &id, &code).await;
            assert_eq!((ran.output(), ran.error()), (format!("{number}\n").as_str(), ""));
        });
    }
    while let Some(ended) = runs.join_next().await {
        ended.unwrap();
    }
}
