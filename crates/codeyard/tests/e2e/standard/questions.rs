//! Servers' questions to the client, in every combination of revisions, and calls suspended for the client's answers.

use serde_json::{Value, json};
use test_support::{Codeyard, Era, McpClient, ServerDefinition};

use super::{ERAS, one};

/// Each kind of question, and an answer to it.
fn kinds() -> [(&'static str, Value); 3] {
    [
        (
            "elicitation/create",
            json!({"action": "accept", "content": {"age": 7}}),
        ),
        (
            "sampling/createMessage",
            json!({"role": "assistant", "content": {"type": "text", "text": "4.6e9 years"}, "model": "m"}),
        ),
        (
            "roots/list",
            json!({"roots": [{"uri": "file:///work", "name": "work"}]}),
        ),
    ]
}

async fn able(codeyard: &Codeyard, era: Era) -> McpClient {
    let mut client = codeyard.standard_unopened().unwrap();
    client.declare(json!({"elicitation": {}, "sampling": {}, "roots": {}}));
    client.open(era).await.unwrap();
    client
}

/// The next request of a server.
async fn question(client: &mut McpClient) -> Value {
    let is_question = |message: &Value| message.get("method").is_some() && message.get("id").is_some();
    let patience = std::time::Duration::from_secs(30);
    client
        .wait_for("a question", patience, is_question)
        .await
        .unwrap()
}

/// The answer that the server received, as it reports.
fn told(upstream: Era, result: &Value) -> &Value {
    let key = if upstream == Era::Modern { "age" } else { "result" };
    &result["structuredContent"][key]
}

/// Repeats the call, with these answers to the questions.
fn again(params: &Value, asked: &Value, answers: impl Fn(&str) -> Value) -> Value {
    let mut params = params.clone();
    let requests = asked["inputRequests"].as_object().unwrap();
    let responses: serde_json::Map<String, Value> =
        requests.keys().map(|key| (key.clone(), answers(key))).collect();
    params["inputResponses"] = json!(responses);
    params["requestState"] = asked["requestState"].clone();
    params
}

#[tokio::test]
async fn a_client_of_the_legacy_era_answers_by_a_response() {
    for upstream in ERAS {
        let codeyard = one(upstream);
        let mut client = able(&codeyard, Era::Legacy).await;
        for (method, answer) in kinds() {
            let params = json!({"name": "inquire", "arguments": {"method": method}});
            let id = client.start("tools/call", params).await.unwrap();
            let asked = question(&mut client).await;
            assert_eq!(asked["method"], method);
            let response = json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer});
            client.send(&response).await.unwrap();
            let result = client.answer(&id).await.unwrap()["result"].take();
            assert_eq!(told(upstream, &result), &answer, "{upstream:?} {method}");
        }
    }
}

#[tokio::test]
async fn a_client_of_the_modern_era_answers_with_its_next_call() {
    for upstream in ERAS {
        let codeyard = one(upstream);
        let mut client = able(&codeyard, Era::Modern).await;
        for (method, answer) in kinds() {
            let params = json!({"name": "inquire", "arguments": {"method": method}});
            let asked = client.result("tools/call", params.clone()).await.unwrap();
            assert_eq!(asked["resultType"], "input_required", "{asked}");
            let requests = asked["inputRequests"].as_object().unwrap();
            let methods: Vec<&Value> = requests.values().map(|request| &request["method"]).collect();
            assert_eq!(methods, [method], "{asked}");
            let params = again(&params, &asked, |_| answer.clone());
            let result = client.result("tools/call", params).await.unwrap();
            assert_eq!(told(upstream, &result), &answer, "{upstream:?} {method}");
            assert_eq!(result["resultType"], "complete");
        }
    }
}

#[tokio::test]
async fn a_question_names_its_server() {
    let server = |name| ServerDefinition::stub_with_extras().env("STUB_NAME", name);
    let codeyard = Codeyard::new()
        .unwrap()
        .server("one", &server("one"))
        .server("two", &server("two"));
    let mut client = able(&codeyard, Era::Modern).await;
    let asked = client.call_tool("two_inquire", json!({})).await.unwrap();
    let request = &asked["inputRequests"]["question-1"];
    let params = &request["params"];
    assert_eq!(params["message"], "two: How old are you?", "{asked}");
    assert_eq!(params["vendor"], json!({"z": 1.5}), "what no library knows");
}

#[tokio::test]
async fn suspended_calls_are_distinguished() {
    let codeyard = one(Era::Legacy);
    let mut client = able(&codeyard, Era::Modern).await;
    let inquire = json!({"name": "inquire", "arguments": {}});
    let first = client.result("tools/call", inquire.clone()).await.unwrap();
    let second = client.result("tools/call", inquire.clone()).await.unwrap();
    assert_ne!(first["requestState"], second["requestState"]);
    for (asked, age) in [(second, 2), (first, 1)] {
        let params = again(
            &inquire,
            &asked,
            |_| json!({"action": "accept", "content": {"age": age}}),
        );
        let answer = client.result("tools/call", params).await.unwrap();
        let content = &answer["structuredContent"]["result"]["content"];
        assert_eq!(content["age"], age, "{answer}");
    }
}

#[tokio::test]
async fn a_server_may_ask_a_limited_number_of_times() {
    let codeyard = one(Era::Legacy);
    for (times, expected) in [(3, 3), (50, 10)] {
        let mut client = able(&codeyard, Era::Modern).await;
        let call = json!({"name": "pester", "arguments": {"times": times}});
        let mut params = call.clone();
        for _ in 0..expected {
            let asked = client.result("tools/call", params).await.unwrap();
            assert_eq!(asked["resultType"], "input_required", "{asked}");
            params = again(&call, &asked, |_| json!({"action": "decline"}));
        }
        let last = client.request("tools/call", params).await.unwrap();
        if times == expected {
            let answers = last["result"]["structuredContent"]["answers"].as_array();
            assert_eq!(answers.map(Vec::len), Some(times), "{last}");
        } else {
            let told = last["error"]["message"].as_str().unwrap();
            assert_eq!(told, "server 'stub' asked for input more than 10 times");
        }
        client.call_tool("echo", json!({"message": "x"})).await.unwrap();
    }
}

#[tokio::test]
async fn missing_answers_are_requested_again_and_extra_ones_are_ignored() {
    let codeyard = one(Era::Legacy);
    let mut client = able(&codeyard, Era::Modern).await;
    let call = json!({"name": "inquire", "arguments": {}});
    let mut asked = client.result("tools/call", call.clone()).await.unwrap();
    for wrong in [
        json!({}),
        json!({"other": {}}),
        json!({"question-1": 5}),
        json!(null),
        json!([1]),
    ] {
        let mut params = again(&call, &asked, |_| Value::Null);
        params["inputResponses"] = wrong;
        let next = client.result("tools/call", params).await.unwrap();
        assert_eq!(next["inputRequests"], asked["inputRequests"], "{next}");
        assert_ne!(
            next["requestState"], asked["requestState"],
            "each handle is valid once"
        );
        asked = next;
    }
    let mut params = again(
        &call,
        &asked,
        |_| json!({"action": "accept", "content": {"age": 7}}),
    );
    params["inputResponses"]["unknown"] = json!({"action": "accept"});
    let answer = client.result("tools/call", params).await.unwrap();
    assert_eq!(
        answer["structuredContent"]["result"]["content"]["age"], 7,
        "{answer}"
    );
}

#[tokio::test]
async fn a_handle_is_valid_once_for_its_own_call_and_connection() {
    let codeyard = one(Era::Legacy);
    let mut client = able(&codeyard, Era::Modern).await;
    let call = json!({"name": "inquire", "arguments": {}});
    let answer = |_: &str| json!({"action": "accept", "content": {"age": 7}});
    let refused = async |client: &mut McpClient, params: Value, expected: &str| {
        let answer = client.request("tools/call", params).await.unwrap();
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        let told = answer["error"]["message"].as_str().unwrap();
        assert!(
            told.contains("`requestState`") && told.contains(expected),
            "{told}"
        );
    };
    // Invented, or changed.
    let asked = client.result("tools/call", call.clone()).await.unwrap();
    let mut forged = again(&call, &asked, answer);
    forged["requestState"] = json!(format!("{}0", asked["requestState"].as_str().unwrap()));
    refused(&mut client, forged, "is unknown or has expired").await;
    // From another connection.
    let good = again(&call, &asked, answer);
    let mut other = able(&codeyard, Era::Modern).await;
    refused(&mut other, good.clone(), "is unknown or has expired").await;
    // Used before.
    client.result("tools/call", good.clone()).await.unwrap();
    refused(&mut client, good, "is unknown or has expired").await;
    // From another call.
    let asked = client.result("tools/call", call.clone()).await.unwrap();
    let mut params = again(&call, &asked, answer);
    params["arguments"] = json!({"method": "elicitation/create"});
    refused(&mut client, params, "belongs to another call").await;
}

#[tokio::test]
async fn the_number_of_suspended_calls_is_limited() {
    let codeyard = Codeyard::new().unwrap().server(
        "stub",
        &ServerDefinition::stub_with_extras().field("maxCalls", json!(40)),
    );
    let mut client = able(&codeyard, Era::Modern).await;
    for _ in 0..16 {
        let asked = client.call_tool("inquire", json!({})).await.unwrap();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
    }
    let refused = client.call_tool("inquire", json!({})).await.unwrap();
    let told = refused["structuredContent"]["error"]["message"].as_str().unwrap();
    assert!(
        told.contains("16 questions of this server wait for the client already"),
        "{told}"
    );
    client.call_tool("echo", json!({"message": "x"})).await.unwrap();
}

#[tokio::test]
async fn a_client_without_the_capability_is_not_asked() {
    for (era, expected) in [
        (
            Era::Legacy,
            "the client did not declare the capability 'elicitation'",
        ),
        (
            Era::Modern,
            "no call is under way whose client declared the capability 'elicitation'",
        ),
    ] {
        let codeyard = one(Era::Legacy);
        let mut client = super::open(&codeyard, era).await;
        let answer = client.call_tool("inquire", json!({})).await.unwrap();
        let error = &answer["structuredContent"]["error"];
        assert_eq!(error["code"], -32601, "{answer}");
        assert!(error["message"].as_str().unwrap().contains(expected), "{answer}");
    }
}

#[tokio::test]
async fn a_suspended_call_ends_with_its_client() {
    let codeyard = one(Era::Legacy);
    let mut client = able(&codeyard, Era::Modern).await;
    let pid = client.call_tool("pid", json!({})).await.unwrap()["structuredContent"]["pid"].clone();
    client.call_tool("inquire", json!({})).await.unwrap();
    client.finish().await.unwrap();
    let pid = u32::try_from(pid.as_u64().unwrap()).unwrap();
    test_support::wait_until("the server has ended", || {
        test_support::is_gone(pid).then_some(())
    })
    .await;
}
