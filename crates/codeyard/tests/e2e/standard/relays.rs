//! Relayed messages besides answers: progress, cancellation, servers' logs, and servers' questions.

use serde_json::{Value, json};
use test_support::{Era, McpClient, is_gone, wait_until};

use super::{ERAS, one, open, two};

#[tokio::test]
async fn progress_reaches_the_client_under_its_own_token() {
    for upstream in ERAS {
        for era in ERAS {
            let codeyard = one(upstream);
            let mut client = open(&codeyard, era).await;
            let params = json!({
                "name": "progress", "arguments": {"times": 3, "every": 10}, "_meta": {"progressToken": "mine"},
            });
            let id = client.start("tools/call", params).await.unwrap();
            for step in 1..=3 {
                let progress = client.notification("notifications/progress").await.unwrap();
                let told = (
                    &progress["progressToken"],
                    &progress["progress"],
                    &progress["total"],
                );
                assert_eq!(told, (&json!("mine"), &json!(step), &json!(3)));
            }
            let answer = client.answer(&id).await.unwrap();
            assert_eq!(answer["result"]["content"][0]["text"], "done");
        }
    }
}

#[tokio::test]
async fn a_cancelled_call_is_cancelled_at_the_server() {
    let codeyard = one(Era::Legacy);
    let mut client = open(&codeyard, Era::Legacy).await;
    client.tools().await.unwrap();
    let params = json!({"name": "progress", "arguments": {"times": 1000, "every": 100}, "_meta": {"progressToken": 1}});
    let id = client.start("tools/call", params).await.unwrap();
    client.notification("notifications/progress").await.unwrap();
    client.cancel(&id).await.unwrap();
    let mut ids = json!([]);
    for _ in 0..100 {
        ids = client.call_tool("cancelled", json!({})).await.unwrap()["structuredContent"]["ids"].clone();
        if ids != json!([]) {
            break;
        }
    }
    assert_eq!(ids.as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn log_messages_of_a_server_reach_the_client() {
    for era in ERAS {
        let codeyard = one(era);
        let mut client = open(&codeyard, era).await;
        let params = json!({
            "name": "say", "arguments": {"text": "hello"}, "_meta": {"io.modelcontextprotocol/logLevel": "info"},
        });
        client.result("tools/call", params).await.unwrap();
        let said = client.notification("notifications/message").await.unwrap();
        assert_eq!(said["data"], "hello");
        client.call_tool("change_prompts", json!({})).await.unwrap();
        if era == Era::Legacy {
            client
                .notification("notifications/prompts/list_changed")
                .await
                .unwrap();
            client
                .result("logging/setLevel", json!({"level": "debug"}))
                .await
                .unwrap();
            let said = client.notification("notifications/message").await.unwrap();
            assert_eq!(said, json!({"level": "debug", "data": "stub"}));
            client
                .result("resources/subscribe", json!({"uri": "stub://note"}))
                .await
                .unwrap();
            let updated = client
                .notification("notifications/resources/updated")
                .await
                .unwrap();
            assert_eq!(updated["uri"], "stub://note");
        }
    }
}

#[tokio::test]
async fn a_server_that_starts_later_receives_the_log_level() {
    let codeyard = one(Era::Legacy);
    let mut client = open(&codeyard, Era::Legacy).await;
    client
        .result("logging/setLevel", json!({"level": "warning"}))
        .await
        .unwrap();
    client.tools().await.unwrap();
    let said = client.notification("notifications/message").await.unwrap();
    assert_eq!(said, json!({"level": "warning", "data": "stub"}));
    let loud = client
        .start("logging/setLevel", json!({"level": "loud"}))
        .await
        .unwrap();
    let refused = client.answer(&loud).await.unwrap();
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}

#[tokio::test]
async fn withdrawn_questions_free_their_place() {
    let codeyard = one(Era::Legacy);
    let mut client = who_answers(&codeyard, Era::Legacy, json!({"elicitation": {}})).await;
    for _ in 0..2 {
        let params = json!({"name": "withdraw", "arguments": {"times": 16}});
        let answer = client.result("tools/call", params).await.unwrap();
        assert_eq!(answer["content"][0]["text"], "withdrawn");
    }
    let inquire = json!({"name": "inquire", "arguments": {}});
    let id = client.start("tools/call", inquire).await.unwrap();
    // The client answers all questions that it has seen, even withdrawn ones.
    let answer = loop {
        let line: Value = serde_json::from_str(&client.line().await.unwrap()).unwrap();
        if line["id"] == id {
            break line;
        }
        if line.get("method").is_some() && line.get("id").is_some() {
            let result = json!({"action": "accept", "content": {"age": 7}});
            let answer = json!({"jsonrpc": "2.0", "id": line["id"], "result": result});
            client.send(&answer).await.unwrap();
        }
    };
    let text = answer["result"]["structuredContent"].to_string();
    assert!(text.contains("\"age\":7"), "{answer}");
}

#[tokio::test]
async fn a_client_of_the_modern_era_receives_only_requested_notifications() {
    for upstream in ERAS {
        let codeyard = one(upstream);
        let mut client = open(&codeyard, Era::Modern).await;
        client.tools().await.unwrap();
        let say = json!({"name": "say", "arguments": {"text": "unasked"}});
        let id = client.start("tools/call", say).await.unwrap();
        let next: Value = serde_json::from_str(&client.line().await.unwrap()).unwrap();
        assert_eq!(next["id"], id, "{next}");
    }
}

async fn who_answers(codeyard: &test_support::Codeyard, era: Era, capabilities: Value) -> McpClient {
    let mut client = codeyard.standard_unopened().unwrap();
    client.declare(capabilities);
    client.open(era).await.unwrap();
    client
}

/// Answers the server's next request.
async fn answer_question(client: &mut McpClient, result: Value) -> Value {
    let is_question = |message: &Value| message.get("method").is_some() && message.get("id").is_some();
    let patience = std::time::Duration::from_secs(30);
    let question = client
        .wait_for("a question", patience, is_question)
        .await
        .unwrap();
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
    client.send(&answer).await.unwrap();
    question
}

#[tokio::test]
async fn a_client_of_the_legacy_era_is_asked_for_servers_of_both() {
    let result = json!({"action": "accept", "content": {"age": 7}});
    for (server, tool) in [("one", "one_inquire"), ("two", "two_inquire")] {
        let codeyard = two();
        let mut client = who_answers(&codeyard, Era::Legacy, json!({"elicitation": {}})).await;
        let id = client
            .start("tools/call", json!({"name": tool, "arguments": {}}))
            .await
            .unwrap();
        let question = answer_question(&mut client, result.clone()).await;
        assert_eq!(question["method"], "elicitation/create");
        assert_eq!(
            question["params"]["message"],
            format!("{server}: How old are you?")
        );
        assert!(question["params"]["requestedSchema"]["properties"]["age"].is_object());
        let answer = client.answer(&id).await.unwrap();
        let text = answer["result"]["structuredContent"].to_string();
        assert!(text.contains("\"age\":7"), "{answer}");
    }
}

#[tokio::test]
async fn capabilities_and_own_metadata_go_with_a_modern_call() {
    let mut client = who_answers(
        &one(Era::Modern),
        Era::Modern,
        json!({"elicitation": {"url": {}}}),
    )
    .await;
    let params = json!({"name": "meta", "arguments": {}, "_meta": {"vendor/trace": "t1"}});
    let meta = client.result("tools/call", params).await.unwrap()["structuredContent"].clone();
    assert_eq!(meta["vendor/trace"], "t1", "{meta}");
    assert_eq!(
        meta["io.modelcontextprotocol/clientCapabilities"],
        json!({"elicitation": {"url": {}}})
    );
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "codeyard");
}

#[tokio::test]
async fn nothing_is_left_after_the_client_disconnects() {
    let codeyard = two();
    let mut client = open(&codeyard, Era::Legacy).await;
    let pid = client.call_tool("one_pid", json!({})).await.unwrap()["structuredContent"]["pid"].clone();
    client
        .start(
            "tools/call",
            json!({"name": "one_slow", "arguments": {"seconds": 100}}),
        )
        .await
        .unwrap();
    client.finish().await.unwrap();
    let pid = u32::try_from(pid.as_u64().unwrap()).unwrap();
    wait_until("the server has ended", || is_gone(pid).then_some(())).await;
}
