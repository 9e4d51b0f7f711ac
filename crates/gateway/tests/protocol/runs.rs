//! Calls of the two tools: results, mistakes, parallel runs, progress, cancellation.

use std::time::Duration;

use serde_json::json;
use types::SessionName;

use crate::client::Client;

#[tokio::test]
async fn a_program_is_run_as_the_client_asked() {
    let mut client = Client::connected().await;
    let arguments = json!({"code": "return 6", "language": "python", "session": "work", "timeout_ms": 1500, "check": "off"});
    let result = client.call_tool("execute_code", arguments).await["result"].clone();
    assert_eq!(
        result["content"],
        json!([{"type": "text", "text": "6\nsession: work"}])
    );
    assert_eq!(
        result["structuredContent"],
        json!({"status": "completed", "result": "6", "session": "work", "run_id": "run"})
    );
    assert_eq!(result["isError"], false);
    let request = client.script.requests().remove(0);
    assert_eq!(request.spec.granted.limits.wall_time, Duration::from_millis(1500));
    assert_eq!(
        request.spec.session,
        types::Selector::Named(SessionName::new("work"))
    );
}

#[tokio::test]
async fn mistakes_in_arguments_are_tool_errors_and_run_nothing() {
    let mut client = Client::connected().await;
    for (arguments, told) in [
        (json!({}), "`code` is missing"),
        (
            json!({"code": "return 1", "timeout_ms": 1.5}),
            "timeout_ms must be a whole number of milliseconds from 1 to 300000, not 1.5; use 2",
        ),
        (
            json!({"code": "return 1", "language": "ruby"}),
            "`language` must be \"python\"",
        ),
        (
            json!({"code": "return 1", "timeout": 5}),
            "did you mean `timeout_ms`?",
        ),
    ] {
        let result = client.call_tool("execute_code", arguments).await["result"].clone();
        assert_eq!(result["isError"], true);
        assert!(
            result["content"][0]["text"].as_str().unwrap().contains(told),
            "{result}"
        );
        assert_eq!(result["structuredContent"]["status"], "refused");
    }
    let result = client.call_tool("search_tools", json!({"query": 5})).await["result"].clone();
    assert_eq!(result["isError"], true);
    assert!(client.script.requests().is_empty());
    let result = client
        .call_tool("execute_code", json!({"code": "refuse no room"}))
        .await["result"]
        .clone();
    assert_eq!(
        (result["isError"].clone(), result["content"][0]["text"].clone()),
        (json!(true), json!("Unknown MCP server: no room"))
    );
    let failed = client.call_tool("execute_code", json!({"code": "panic"})).await;
    assert_eq!(
        failed["error"]["message"],
        "codeyard failed while it answered the call"
    );
}

#[tokio::test]
async fn tools_are_found() {
    let mut client = Client::connected().await;
    let arguments = json!({"query": "find", "limit": 3, "detail": "full"});
    let result = client.call_tool("search_tools", arguments).await["result"].clone();
    assert_eq!(result["structuredContent"]["tools"][0]["tool"], "find");
    assert_eq!(
        result["content"][0]["text"],
        "tools.crm.find()  # full\n3 more tools match; narrow the query or raise limit"
    );
    assert_eq!(result["isError"], false);
}

#[tokio::test]
async fn c126_calls_run_in_parallel_and_each_gets_its_own_answer() {
    let mut client = Client::connected().await;
    for number in 0..20 {
        client.execute(number, &format!("wait {number}")).await;
    }
    for number in (0..20).rev() {
        client.script.logged(&format!("started wait {number}")).await;
        client.script.release(&number.to_string());
        let answer = client.next().await;
        assert_eq!(answer["id"], number);
        assert_eq!(
            answer["result"]["structuredContent"]["result"],
            number.to_string()
        );
    }
}

#[tokio::test]
async fn a_run_reports_progress_on_request() {
    let mut client = Client::connected().await;
    let params = json!({"name": "execute_code", "arguments": {"code": "wait x"}, "_meta": {"progressToken": "token-1"}});
    client.request(1, "tools/call", params).await;
    let mut last = 0.0;
    for _ in 0..2 {
        let note = client.next().await;
        assert_eq!(note["method"], "notifications/progress", "{note}");
        assert_eq!(note["params"]["progressToken"], "token-1");
        let progress = note["params"]["progress"].as_f64().unwrap();
        assert!(progress > last, "progress grows");
        last = progress;
    }
    client.script.release("x");
    // One more may be on its way when the run ends.
    loop {
        let message = client.next().await;
        if message["id"] == 1 {
            break;
        }
        assert_eq!(message["method"], "notifications/progress", "{message}");
    }
    client.check_alive().await;
}

#[tokio::test]
async fn a_cancelled_run_ends_and_is_not_answered() {
    let mut client = Client::connected().await;
    client.execute(3, "hang").await;
    client.execute(4, "wait other").await;
    client.script.logged("started hang").await;
    client.script.logged("started wait other").await;
    client.cancel(3).await;
    client.script.logged("ended hang").await;
    client.cancel(99).await;
    client.script.release("other");
    assert_eq!(client.next().await["id"], 4, "the other run goes on");
    client.execute(3, "return again").await;
    let answer = client.next().await;
    assert_eq!(
        (
            answer["id"].clone(),
            answer["result"]["structuredContent"]["result"].clone()
        ),
        (json!(3), json!("again"))
    );
    assert!(client.finish().await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn runs_begin_in_the_order_of_their_requests() {
    let mut client = Client::connected().await;
    let codes: Vec<String> = (0..200).map(|number| format!("return {number}")).collect();
    let lines: String = codes
        .iter()
        .enumerate()
        .map(|(id, code)| {
            let call = json!({"name": "execute_code", "arguments": {"code": code}});
            let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call});
            format!("{request}\n")
        })
        .collect();
    client.raw(lines.as_bytes()).await;
    client.answers(codes.len()).await;
    let begun: Vec<String> = client
        .script
        .requests()
        .into_iter()
        .map(|request| request.spec.code)
        .collect();
    assert_eq!(begun, codes);
}
