//! An agent that acts for a user is a second principal: on record, and refused if the operator lists others.

use serde_json::json;

use super::signed_on::{ANN, SignedOn, program, send};
use crate::gateway::actors::ADMIN;
use crate::gateway::running::code;

#[tokio::test]
async fn an_agent_stands_beside_its_user_on_record() {
    let signed = SignedOn::start("agents = [\"agent-7\"]\n").await;
    let id = signed.server().await;
    signed
        .issuer
        .configure(json!({"agent": "agent-7"}))
        .await
        .unwrap();
    let token = signed.token(ANN).await;
    let ran = send(&signed.gateway, &token, "/rpc", &program(&id, "print(1)"))
        .await
        .whole()
        .await;
    assert_eq!(ran.status, 200, "{}", ran.text());
    let body = code("of the agent", &json!({})).to_string();
    let made = signed
        .gateway
        .rest_with(Some(&token), "POST /servers", body.as_bytes())
        .await;
    assert_eq!(made.status, 201, "{}", made.text());
    let audit = signed.gateway.get(&ADMIN, "/audit?action=server.create").await;
    assert_eq!(audit[0]["actor"], format!("{ANN} by agent agent-7"), "{audit}");
    let runs = signed.get(&token, &format!("/servers/{id}/code/runs")).await;
    assert_eq!(runs.json()[0]["client"], "agent agent-7", "{}", runs.text());
    let audit = signed
        .gateway
        .get(&ADMIN, &format!("/audit?user={ANN}&action=server.create"))
        .await;
    assert_eq!(audit.as_array().map(Vec::len), Some(1), "{audit}");
    // An agent cannot make tokens that outlive its own.
    let token = signed
        .gateway
        .rest_with(Some(&token), "POST /tokens", b"{\"role\": \"viewer\"}")
        .await;
    assert!(
        token.status >= 400 && token.text().contains("makes no tokens"),
        "{}",
        token.text()
    );
}

#[tokio::test]
async fn agents_whom_the_operator_does_not_list_are_refused() {
    let signed = SignedOn::start("agents = [\"agent-7\"]\n").await;
    for (agent, text) in [
        ("agent-8", "agent 'agent-8' may not act"),
        ("a\nb", "names no agent"),
    ] {
        signed.issuer.configure(json!({"agent": agent})).await.unwrap();
        let token = signed.token(ANN).await;
        let refused = signed.get(&token, "/servers").await;
        assert!(
            refused.status == 401 && refused.text().contains(text),
            "{}",
            refused.text()
        );
    }
    signed.issuer.configure(json!({"agent": null})).await.unwrap();
    let token = signed.token(ANN).await;
    assert_eq!(signed.status(&token, "/servers").await, 200, "the user alone");
}
