//! The connection itself: noise, parallel calls, cancellation, ends.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, Era, is_gone, wait_until};

#[tokio::test]
async fn c332_noise_is_survived() {
    let mut client = CodeClient::with_stub().await;
    client.mcp.send_raw(b"\n\r\n  \nthis is garbage\n").await.unwrap();
    let error = client
        .mcp
        .wait_for("an error", Duration::from_secs(20), |message| {
            message["error"]["code"] == -32700
        });
    assert_eq!(error.await.unwrap()["id"], Value::Null);
    let big = client
        .execute(json!({"code": format!("len({:?})", "x".repeat(2 * 1024 * 1024))}))
        .await;
    assert_eq!(*big.result(), 2 * 1024 * 1024);
    client.check("print('alive')", "alive\n").await;
}

#[tokio::test]
async fn c126_concurrent_runs_do_not_mix() {
    let mut client = CodeClient::with_stub().await;
    let mut ids = Vec::new();
    for number in 0..10 {
        let arguments = json!({"code": format!("import time;time.sleep(0.05);print({number})")});
        let call = json!({"name": "execute_code", "arguments": arguments});
        ids.push(client.mcp.start("tools/call", call).await.unwrap());
    }
    for (number, id) in ids.iter().enumerate() {
        let answer = client.mcp.answer(id).await.unwrap();
        assert_eq!(
            answer["result"]["structuredContent"]["stdout"],
            format!("{number}\n")
        );
    }
}

#[tokio::test]
async fn sessions_run_in_parallel() {
    let mut client = CodeClient::with_stub().await;
    // Each waits for the other's file-less sign: both must be under way at once to see two starts.
    let mut ids = Vec::new();
    for session in ["a", "b"] {
        let arguments = json!({"code": "import time; start = time.time(); time.sleep(0.5); [start, time.time()]", "session": session});
        ids.push(
            client
                .mcp
                .start(
                    "tools/call",
                    json!({"name": "execute_code", "arguments": arguments}),
                )
                .await
                .unwrap(),
        );
    }
    let mut spans = Vec::new();
    for id in &ids {
        let answer = client.mcp.answer(id).await.unwrap();
        let span = &answer["result"]["structuredContent"]["result"];
        spans.push((span[0].as_f64().unwrap(), span[1].as_f64().unwrap()));
    }
    let overlap = spans[0].1.min(spans[1].1) - spans[0].0.max(spans[1].0);
    assert!(overlap > 0.0, "{spans:?}");
}

#[tokio::test]
async fn a_cancelled_run_ends_and_the_session_goes_on() {
    let mut client = CodeClient::with_stub().await;
    client.check("kept = 7", "").await;
    let call = json!({
        "name": "execute_code",
        "arguments": {"code": "import time\nprint('on', flush=True)\ntime.sleep(60)"},
        "_meta": {"progressToken": "p"},
    });
    let id = client.mcp.start("tools/call", call).await.unwrap();
    client.mcp.notification("notifications/progress").await.unwrap();
    let start = Instant::now();
    client.mcp.cancel(&id).await.unwrap();
    client.check("print(kept)", "7\n").await;
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[tokio::test]
async fn both_eras_run_programs() {
    let codeyard = Codeyard::new().unwrap();
    let mut modern = codeyard.mcp(Era::Modern).await.unwrap();
    let ran = modern
        .call_tool("execute_code", json!({"code": "6 * 7"}))
        .await
        .unwrap();
    assert_eq!(ran["structuredContent"]["result"], 42);
    assert_eq!(ran["resultType"], "complete");
}

#[tokio::test]
async fn closing_standard_input_ends_everything() {
    let mut client = CodeClient::with_stub().await;
    let server = client.run("return await tools.stub.pid()").await;
    let server = u32::try_from(server.result()["pid"].as_u64().unwrap()).unwrap();
    let call = json!({"name": "execute_code", "arguments": {"code": "import time\ntime.sleep(60)"}, "_meta": {"progressToken": 1}});
    client.mcp.start("tools/call", call).await.unwrap();
    client.mcp.notification("notifications/progress").await.unwrap();
    let start = Instant::now();
    client.mcp.close_stdin();
    let status = client.mcp.wait().await.unwrap();
    assert!(status.success(), "{status}: {}", client.mcp.stderr());
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    wait_until("the server is gone", || is_gone(server).then_some(())).await;
}
