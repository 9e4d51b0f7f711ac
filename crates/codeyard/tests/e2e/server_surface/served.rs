//! The surface over HTTP, to clients with and without sessions.

use serde_json::{Value, json};
use test_support::Codeyard;

use crate::http::served::{Served, modern};

async fn call(served: &Served, session: &str, tool: &str, arguments: Value) -> Value {
    let call = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    });
    served
        .post(&[("mcp-session-id", session)], &call)
        .await
        .events()
        .pop()
        .unwrap()["result"]
        .clone()
}

#[tokio::test]
async fn clients_with_sessions_have_separate_files() {
    let served = Served::start(Codeyard::with_stub().unwrap(), &["--surface", "server"]).await;
    let (first, second) = (served.open().await, served.open().await);
    let file = json!({"path": "/scratch/secret", "content": "alice-77"});
    call(&served, &first, "fs_write", file).await;
    let code = json!({"code": "print(read_file('secret'))"});
    let ran = call(&served, &first, "shell_exec", code.clone()).await;
    assert_eq!(ran["structuredContent"]["output"], "alice-77\n", "{ran}");
    let ran = call(&served, &second, "shell_exec", code).await;
    assert!(
        ran["structuredContent"]["error"]
            .as_str()
            .unwrap()
            .contains("FileNotFoundError"),
        "{ran}"
    );
    let read = call(&served, &second, "fs_read", json!({"path": "/scratch/secret"})).await;
    assert_eq!(
        read["structuredContent"]["error"],
        "Path not found: /scratch/secret"
    );
}

#[tokio::test]
async fn clients_without_sessions_are_served() {
    let served = Served::start(Codeyard::with_stub().unwrap(), &["--surface", "server"]).await;
    for (tool, arguments, field, expected) in [
        (
            "fs_write",
            json!({"path": "/scratch/a", "content": "x"}),
            "path",
            json!("/scratch/a"),
        ),
        ("shell_exec", json!({"code": "cat a"}), "output", json!("x")),
        ("fs_read", json!({"path": "/scratch/a"}), "content", json!("x")),
    ] {
        let call = modern("tools/call", json!({"name": tool, "arguments": arguments}), None);
        let headers = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", tool),
        ];
        let answer = served.post(&headers, &call).await.events().pop().unwrap();
        assert_eq!(answer["result"]["structuredContent"][field], expected, "{answer}");
    }
}
