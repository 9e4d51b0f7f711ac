//! Clients that can show a link: a call without a login waits for the login, and goes on.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::{Codeyard, Way};

use super::yard::{LoginYard, link_in};
use crate::gateway::actors::{ALICE, Actor, BOB};
use crate::gateway::running::until;
use crate::http::served::{Stream, initialize, modern};

const TWO_CALLS: &str = "import asyncio\n\
    print(await asyncio.gather(tools.far.add(a=2, b=3), tools.far.add(a=3, b=3)))";

/// A session of Alice whose client declares these capabilities.
struct AskedClient<'y> {
    yard: &'y LoginYard,
    session: String,
}

impl AskedClient<'_> {
    async fn open(yard: &LoginYard, elicitation: Value) -> AskedClient<'_> {
        let mut client = AskedClient {
            yard,
            session: String::new(),
        };
        let mut opening = initialize();
        opening["params"]["capabilities"] = json!({"elicitation": elicitation});
        let opened = client.send(&opening).await.whole().await;
        client.session = opened.header("mcp-session-id").unwrap().to_owned();
        client
            .tell(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        client
    }

    async fn send(&self, message: &Value) -> Stream {
        let place = format!("POST /servers/{}/mcp", self.yard.server);
        let session = [("mcp-session-id", self.session.as_str())];
        let headers = if self.session.is_empty() {
            &[][..]
        } else {
            &session
        };
        self.yard.gateway.begin(&ALICE, &place, headers, message).await
    }

    async fn tell(&self, message: &Value) {
        let told = self.send(message).await.whole().await;
        assert_eq!(told.status, 202, "{}", told.text());
    }

    async fn run(&self, code: &str, timeout_ms: u64) -> Stream {
        let arguments = json!({"code": code, "language": "python", "timeout_ms": timeout_ms});
        let params = json!({"name": "shell_exec", "arguments": arguments});
        self.send(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}))
            .await
    }

    async fn answer(&self, question: &Value, action: &str) {
        self.tell(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": action}}))
            .await;
    }
}

#[track_caller]
fn link_asked(question: &Value) -> &str {
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let params = &question["params"];
    assert_eq!(params["mode"], "url", "{question}");
    assert!(
        params["message"].as_str().unwrap().contains("'far'"),
        "{question}"
    );
    params["url"].as_str().unwrap()
}

#[tokio::test]
async fn a_call_waits_for_its_login_and_the_clock_of_the_run_stands_still() {
    let yard = LoginYard::start().await;
    let client = AskedClient::open(&yard, json!({"url": {}})).await;
    let (begun, limit) = (Instant::now(), Duration::from_secs(3));
    let mut run = client.run(TWO_CALLS, 3000).await;
    let question = run.event().await;
    let link = link_asked(&question);
    client.answer(&question, "accept").await;
    until("the run's time would be over", async || {
        (begun.elapsed() > limit).then_some(())
    })
    .await;
    let page = yard.log_in(&ALICE, link).await;
    assert!(page.contains("is logged in"), "{page}");
    // Both calls needed the login, and one question was enough.
    let complete = run.event().await;
    assert_eq!(
        complete["method"], "notifications/elicitation/complete",
        "{complete}"
    );
    assert_eq!(
        complete["params"]["elicitationId"],
        question["params"]["elicitationId"]
    );
    let answer = run.event().await["result"].clone();
    assert_eq!(answer["isError"], false, "{answer}");
    let output = answer["structuredContent"]["output"].as_str().unwrap();
    assert!(output.contains('5') && output.contains('6'), "{answer}");
    assert_eq!(yard.subjects().await, ["alice", "alice"]);
}

#[tokio::test]
async fn a_call_fails_with_the_link_when_its_user_declines() {
    let yard = LoginYard::start().await;
    let client = AskedClient::open(&yard, json!({"url": {}})).await;
    let mut run = client.run(TWO_CALLS, 20_000).await;
    let question = run.event().await;
    link_asked(&question);
    client.answer(&question, "decline").await;
    let answer = run.event().await;
    assert!(answer["result"]["isError"] == true, "{answer}");
    let error = answer["result"]["structuredContent"]["error"].as_str().unwrap();
    assert!(error.contains("needs_login"), "{answer}");
    link_in(error);
}

#[tokio::test]
async fn a_client_that_shows_forms_only_is_not_asked() {
    let yard = LoginYard::with(Codeyard::new().unwrap(), Way::Legacy, json!({})).await;
    let client = AskedClient::open(&yard, json!({"form": {}})).await;
    let answer = client.run(TWO_CALLS, 20_000).await.whole().await.events();
    let error = &answer.last().unwrap()["result"]["structuredContent"]["error"];
    link_in(error.as_str().unwrap());
}

/// A call of a client that returns with answers.
fn returning() -> Value {
    let arguments = json!({"code": TWO_CALLS, "language": "python"});
    let mut call = modern(
        "tools/call",
        json!({"name": "shell_exec", "arguments": arguments}),
        None,
    );
    call["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({"elicitation": {"url": {}}});
    call
}

async fn answered(yard: &LoginYard, actor: &Actor, call: &Value) -> Value {
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "shell_exec"),
    ];
    let place = format!("POST /servers/{}/mcp", yard.server);
    let answer = yard.gateway.begin(actor, &place, &headers, call).await;
    answer.whole().await.events().pop().unwrap()
}

/// The call again, with this answer to its question.
fn again(call: &Value, required: &Value, action: &str) -> Value {
    let required = &required["result"];
    assert_eq!(required["resultType"], "input_required", "{required}");
    let mut call = call.clone();
    call["params"]["inputResponses"] = json!({"login": {"action": action}});
    call["params"]["requestState"] = required["requestState"].clone();
    call
}

#[tokio::test]
async fn a_client_without_a_session_returns_when_its_user_has_logged_in() {
    let yard = LoginYard::start().await;
    let call = returning();
    let required = answered(&yard, &ALICE, &call).await;
    let link = link_asked(&required["result"]["inputRequests"]["login"]).to_owned();
    let again = again(&call, &required, "accept");
    let stolen = answered(&yard, &BOB, &again).await;
    assert!(
        stolen["error"]["message"]
            .as_str()
            .unwrap()
            .contains("requestState"),
        "{stolen}"
    );
    let page = yard.log_in(&ALICE, &link).await;
    assert!(page.contains("is logged in"), "{page}");
    let answer = answered(&yard, &ALICE, &again).await;
    let output = answer["result"]["structuredContent"]["output"].as_str();
    assert!(output.is_some_and(|output| output.contains('6')), "{answer}");
    assert_eq!(yard.subjects().await, ["alice", "alice"]);
    let twice = answered(&yard, &ALICE, &again).await;
    assert!(
        twice["error"]["message"].as_str().unwrap().contains("valid once"),
        "{twice}"
    );
}

#[tokio::test]
async fn a_client_without_a_session_may_decline_and_may_not_change_its_call() {
    let yard = LoginYard::start().await;
    let call = returning();
    let required = answered(&yard, &ALICE, &call).await;
    let declined = answered(&yard, &ALICE, &again(&call, &required, "decline")).await;
    let error = declined["result"]["structuredContent"]["error"].as_str().unwrap();
    link_in(error);
    let required = answered(&yard, &ALICE, &call).await;
    let mut changed = again(&call, &required, "accept");
    changed["params"]["arguments"]["code"] = json!("print(1)");
    let refused = answered(&yard, &ALICE, &changed).await;
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("belongs to another call"), "{refused}");
    // The run that was given up does not hold the session.
    let ran = yard.gateway.sh(&ALICE, &yard.server, "print(1)").await;
    assert_eq!(ran.output(), "1\n", "{ran:?}");
}
