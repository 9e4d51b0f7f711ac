//! The connection itself.

use std::time::Duration;

use serde_json::{Value, json};
use test_support::CodeClient;

#[tokio::test]
async fn c126_concurrent_runs_of_one_session() {
    let mut client = CodeClient::with_stub().await;
    let mut ids = Vec::new();
    for number in 0..10 {
        let code = format!("import time;time.sleep(0.1);print({number})");
        ids.push(client.start(json!({"code": code})).await);
    }
    // Answers in another order than the runs, so that each answer must match its request by id.
    for (number, id) in ids.iter().enumerate().rev() {
        assert_eq!(client.ran(id).await.stdout(), format!("{number}\n"));
    }
}

#[tokio::test]
async fn c332_noise() {
    let mut client = CodeClient::with_stub().await;
    // The client fails on any line of the server that is not JSON-RPC.
    client.mcp.send_raw(b"\n\n   \n\r\n").await.unwrap();
    client.mcp.send_raw(b"this is garbage\n").await.unwrap();
    let is_error = |message: &Value| message.get("error").is_some();
    let answer = client
        .mcp
        .wait_for("an error", Duration::from_secs(20), is_error)
        .await
        .unwrap();
    assert_eq!(
        (&answer["error"]["code"], &answer["id"]),
        (&json!(-32700), &Value::Null)
    );
    let ran = client
        .run(&format!("return len('{}')", "x".repeat(2 * 1024 * 1024)))
        .await;
    assert_eq!(ran.result(), 2 * 1024 * 1024);
    let call = json!({
        "jsonrpc": "2.0", "id": "last", "method": "tools/call",
        "params": {"name": "execute_code", "arguments": {"code": "print('alive')"}},
    });
    client
        .mcp
        .send_raw(format!("{call}\r\n").as_bytes())
        .await
        .unwrap();
    assert_eq!(client.ran(&json!("last")).await.stdout(), "alive\n");
}
