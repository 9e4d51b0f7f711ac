//! Invalid lines and requests out of order: the protocol's own error, and the connection survives.

use std::time::Duration;

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, Era, McpClient};

/// Waits for the error with this id; `null` if the line had no readable id.
async fn error(client: &mut McpClient, id: Value) -> (i64, String) {
    let answer = client
        .wait_for("an error", Duration::from_secs(30), |message| {
            message.get("error").is_some() && message["id"] == id
        })
        .await
        .unwrap();
    let error = &answer["error"];
    assert_eq!(answer["jsonrpc"], "2.0");
    (
        error["code"].as_i64().unwrap(),
        error["message"].as_str().unwrap().to_owned(),
    )
}

/// Checks that the connection still runs programs.
async fn check_alive(client: &mut McpClient) {
    let ran = client
        .call_tool("execute_code", json!({"code": "return 'alive'"}))
        .await
        .unwrap();
    assert_eq!(ran["structuredContent"]["result"], "alive", "{ran}");
}

async fn connected() -> (Codeyard, McpClient) {
    let codeyard = Codeyard::with_stub().unwrap();
    let client = codeyard.mcp(Era::Legacy).await.unwrap();
    (codeyard, client)
}

#[tokio::test]
async fn malformed_lines() {
    let (_codeyard, mut client) = connected().await;
    for (line, id, code) in [
        (&b"garbage\n"[..], Value::Null, -32700),
        (b"{\n", Value::Null, -32700),
        (b"\xff\xfe\n", Value::Null, -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\n", Value::Null, -32700),
        (b"[]\n", Value::Null, -32600),
        (b"5\n", Value::Null, -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":801}\n", json!(801), -32600),
        (b"{\"jsonrpc\":\"1.0\",\"id\":802,\"method\":\"ping\"}\n", json!(802), -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":803,\"method\":\"tools/call\",\"params\":{}}\n", json!(803), -32602),
        (b"{\"jsonrpc\":\"2.0\",\"id\":804,\"method\":\"tools/call\",\"params\":[1]}\n", json!(804), -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":805,\"method\":\"tools/call\",\"params\":{\"name\":\"github_search\"}}\n", json!(805), -32602),
        (b"{\"jsonrpc\":\"2.0\",\"id\":806,\"method\":\"no/such/method\"}\n", json!(806), -32601),
        (b"{\"jsonrpc\":\"2.0\",\"id\":807,\"method\":\"prompts/list\"}\n", json!(807), -32601),
        (b"{\"jsonrpc\":\"2.0\",\"id\":808,\"method\":\"prompts/list\"}\n", json!(808), -32601),
    ] {
        client.send_raw(line).await.unwrap();
        let (told, message) = error(&mut client, id).await;
        assert_eq!(told, code, "{}: {message}", String::from_utf8_lossy(line));
    }
    // Notifications get no answer.
    client.send_raw(b"\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unknown\"}\n{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n").await.unwrap();
    let id = client.start("ping", json!({})).await.unwrap();
    let next: Value = serde_json::from_str(&client.line().await.unwrap()).unwrap();
    assert_eq!(next, json!({"jsonrpc": "2.0", "id": id, "result": {}}));
    check_alive(&mut client).await;
}

#[tokio::test]
async fn oversized_lines() {
    let (_codeyard, mut client) = connected().await;
    client
        .send_raw(b"{\"jsonrpc\":\"2.0\",\"id\":41,\"method\":\"tools/call\",\"params\":{\"name\":\"execute_code\",\"arguments\":{\"code\":\"")
        .await
        .unwrap();
    let chunk = vec![b'x'; 1024 * 1024];
    for _ in 0..17 {
        client.send_raw(&chunk).await.unwrap();
    }
    // The error comes before the line ends.
    let (code, message) = error(&mut client, json!(41)).await;
    assert_eq!(code, -32600, "{message}");
    assert!(message.contains("16"), "{message}");
    client.send_raw(b"\"}}}\n").await.unwrap();
    check_alive(&mut client).await;
    // A program below the limit of a line may still exceed the limit of a program.
    let code = format!("# {}", "x".repeat(9 * 1024 * 1024));
    let ran = client
        .call_tool("execute_code", json!({"code": code}))
        .await
        .unwrap();
    let error = ran["structuredContent"]["error"].as_str().unwrap();
    assert_eq!(
        error,
        "execute_code was not run: `code` has 9437186 bytes; it may have 8388608"
    );
    check_alive(&mut client).await;
}

#[tokio::test]
async fn partial_lines() {
    let (_codeyard, mut client) = connected().await;
    let call = json!({"jsonrpc": "2.0", "id": "ä", "method": "tools/call", "params": {"name": "execute_code", "arguments": {"code": "return 'ü'"}}});
    let line = format!("{call}\n");
    for piece in line.as_bytes().chunks(7) {
        client.send_raw(piece).await.unwrap();
    }
    let answer = client.answer(&json!("ä")).await.unwrap();
    assert_eq!(answer["result"]["structuredContent"]["result"], "ü");
    // An unfinished line is not a request; the server ends in order.
    client
        .send_raw(b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"pi")
        .await
        .unwrap();
    assert!(client.finish().await.unwrap().success());
}

#[tokio::test]
async fn calls_before_initialization() {
    let codeyard = Codeyard::with_stub().unwrap();
    let mut client = codeyard.mcp_unopened().unwrap();
    for method in ["tools/list", "tools/call"] {
        let id = client
            .start(
                method,
                json!({"name": "execute_code", "arguments": {"code": "1"}}),
            )
            .await
            .unwrap();
        let (code, message) = error(&mut client, id).await;
        assert_eq!(code, -32600);
        assert_eq!(
            message,
            format!("`{method}` before `initialize`; call `initialize` first")
        );
    }
    client.send_raw(b"garbage\n").await.unwrap();
    assert_eq!(error(&mut client, Value::Null).await.0, -32700);
    let id = client
        .start("initialize", json!({"protocolVersion": 5}))
        .await
        .unwrap();
    assert_eq!(error(&mut client, id).await.0, -32600);
    client.open(Era::Legacy).await.unwrap();
    check_alive(&mut client).await;
}

#[tokio::test]
async fn duplicate_ids() {
    let mut client = CodeClient::with_stub().await;
    client.check("print('ready')", "ready\n").await;
    let call = |code: &str| {
        let params = json!({"name": "execute_code", "arguments": {"code": code}});
        json!({"jsonrpc": "2.0", "id": "twice", "method": "tools/call", "params": params})
    };
    client
        .mcp
        .send(&call("import time; time.sleep(0.5); return 'first'"))
        .await
        .unwrap();
    client.mcp.send(&call("return 'second'")).await.unwrap();
    let (code, message) = error(&mut client.mcp, json!("twice")).await;
    assert_eq!(
        (code, message.as_str()),
        (
            -32600,
            "Invalid request: a request with id twice is under way already"
        )
    );
    assert_eq!(client.ran(&json!("twice")).await.result(), "first");
    // An id is free again after its answer.
    client.mcp.send(&call("return 'third'")).await.unwrap();
    assert_eq!(client.ran(&json!("twice")).await.result(), "third");
}

#[tokio::test]
async fn cancelled_ids() {
    let mut client = CodeClient::with_stub().await;
    client.check("kept = 1", "").await;
    // Cancellations of requests that never existed, that have ended, or that have no id.
    for id in [json!(999), json!("never"), json!(1), Value::Null, json!([1])] {
        client.mcp.cancel(&id).await.unwrap();
    }
    client.check("print(kept)", "1\n").await;
    // A cancelled request gets no answer, and its id is free again.
    let call = |code: &str| {
        let params = json!({"name": "execute_code", "arguments": {"code": code}});
        json!({"jsonrpc": "2.0", "id": 500, "method": "tools/call", "params": params})
    };
    client
        .mcp
        .send(&call("import time; time.sleep(50)"))
        .await
        .unwrap();
    client.mcp.cancel(&json!(500)).await.unwrap();
    client.mcp.cancel(&json!(500)).await.unwrap();
    client.check("print(kept)", "1\n").await;
    client.mcp.send(&call("return kept")).await.unwrap();
    assert_eq!(client.ran(&json!(500)).await.result(), 1);
}

#[tokio::test]
async fn requests_above_the_limit_are_refused() {
    let mut client = CodeClient::with_stub().await;
    client.check("print('ready')", "ready\n").await;
    let before = client
        .start(json!({"code": "import time; time.sleep(2)", "session": "slow"}))
        .await;
    let mut refused = 0;
    let mut ids = Vec::new();
    for _ in 0..80 {
        ids.push(client.start(json!({"code": "return 1", "session": "slow"})).await);
    }
    for id in &ids {
        let ran = client.ran(id).await;
        match ran.status() {
            "completed" => {}
            _ => {
                refused += 1;
                let expected =
                    "session 'slow' has 64 runs waiting already; wait for one to end or use another session";
                assert_eq!((ran.status(), ran.error()), ("refused", expected));
            }
        }
    }
    assert!((10..=20).contains(&refused), "{refused}");
    assert_eq!(client.ran(&before).await.status(), "completed");
}
