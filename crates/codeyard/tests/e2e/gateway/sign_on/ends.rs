//! A sign-out at the issuer, and a user who is disabled: tokens, sessions and programs end within five seconds.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::{Issuer, PostgresServer, UserLogin};

use super::signed_on::{ANN, BEN, SignedOn, free_address, program, public_server, send, settings};
use crate::gateway::actors::ADMIN;
use crate::gateway::running::{Gateway, installation, until};
use crate::http::served::{self, Response};

/// Until everything of a user has ended.
const ENDED_WITHIN: Duration = Duration::from_secs(5);

const LONG: &str = "import time\nx = 1\ntime.sleep(100)";

/// An API token that a user makes with the sign-on.
async fn api_token(gateway: &Gateway, token: &str) -> String {
    let body = json!({"role": "developer", "name": "of the sign-on"}).to_string();
    let made = gateway
        .rest_with(Some(token), "POST /tokens", body.as_bytes())
        .await;
    assert_eq!(made.status, 201, "{}", made.text());
    made.json()["token"].as_str().unwrap().to_owned()
}

async fn sessions(gateway: &Gateway, id: &str) -> Vec<Value> {
    let listed = gateway.get(&ADMIN, &format!("/servers/{id}/code/sessions")).await;
    listed.as_array().unwrap().clone()
}

async fn has_session(gateway: &Gateway, id: &str, user: &str) -> bool {
    sessions(gateway, id)
        .await
        .iter()
        .any(|session| session["user_email"] == user)
}

/// The request is refused, or its program was cancelled with its session: whichever came first.
#[track_caller]
fn ended(answer: &Response) {
    let is_cancelled = answer.status == 200 && answer.text().contains("Cancelled");
    assert!(answer.status == 401 || is_cancelled, "{}", answer.text());
}

/// Runs a long program, ends the user by `end`, and checks what is left.
async fn check(signed: &SignedOn, end: impl AsyncFnOnce()) {
    let (gateway, id) = (&signed.gateway, signed.server().await);
    let token = signed.token(ANN).await;
    let own = api_token(gateway, &token).await;
    let other = signed.token(BEN).await;
    let ran = send(gateway, &other, "/rpc", &program(&id, "y = 1"))
        .await
        .whole()
        .await;
    assert_eq!(ran.status, 200, "{}", ran.text());
    let running = send(gateway, &token, "/rpc", &program(&id, LONG)).await;
    until("the program runs", async || {
        has_session(gateway, &id, ANN).await.then_some(())
    })
    .await;
    let begun = Instant::now();
    end().await;
    ended(&running.whole().await);
    until("the session has ended", async || {
        (!has_session(gateway, &id, ANN).await).then_some(())
    })
    .await;
    assert!(begun.elapsed() < ENDED_WITHIN, "{:?}", begun.elapsed());
    for gone in [&token, &own] {
        assert_eq!(signed.status(gone, "/servers").await, 401);
    }
    assert!(has_session(gateway, &id, BEN).await, "others go on");
    assert_eq!(signed.status(&other, "/servers").await, 200);
}

#[tokio::test]
async fn a_sign_out_at_the_issuer_ends_tokens_sessions_and_programs() {
    let signed = SignedOn::start("").await;
    check(&signed, async || signed.issuer.logout(ANN).await.unwrap()).await;
    let audit = signed.gateway.get(&ADMIN, "/audit?action=sign_on.end").await;
    assert_eq!(
        audit[0]["actor"],
        format!("issuer {}", signed.issuer.url),
        "{audit}"
    );
    assert_eq!(audit[0]["detail"], "1 sign-ons, 1 tokens", "{audit}");
    // Whoever signs in again is admitted.
    until("a later token is admitted", async || {
        let token = signed.token(ANN).await;
        (signed.status(&token, "/servers").await == 200).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_disabled_user_ends_the_same() {
    let signed = SignedOn::start("").await;
    check(&signed, async || {
        let disabled = signed.gateway.command(&["user", "disable", ANN]).await;
        assert_eq!(disabled.code, 0, "{disabled:?}");
    })
    .await;
}

#[tokio::test]
async fn reports_without_proof_end_nothing() {
    let signed = SignedOn::start("").await;
    let token = signed.token(ANN).await;
    assert_eq!(signed.status(&token, "/servers").await, 200);
    let post = async |kind: &str, body: &str| {
        let headers = [("content-type", kind)];
        let sent = served::send(
            &signed.gateway.address,
            ("POST", "/sign-on/logout"),
            &headers,
            body.as_bytes(),
        );
        sent.await.whole().await.status
    };
    let form = "application/x-www-form-urlencoded";
    assert_eq!(post("application/json", "{}").await, 400);
    assert_eq!(post(form, "").await, 400);
    assert_eq!(post(form, "logout_token=x").await, 400);
    assert_eq!(
        post(form, &format!("logout_token={token}")).await,
        400,
        "an access token is no report"
    );
    assert_eq!(
        post(form, &format!("logout_token={}", "x".repeat(40_000))).await,
        400
    );
    assert_eq!(signed.status(&token, "/servers").await, 200);
}

#[tokio::test]
async fn a_sign_out_ends_programs_in_every_process() {
    let (issuer, postgres) = (
        Issuer::start("keycloak").await.unwrap(),
        PostgresServer::start().unwrap(),
    );
    let url = postgres.make("gateway").unwrap();
    let data = tempfile::tempdir().unwrap();
    let written = settings(&issuer, "codeyard", "role = \"developer\"\n");
    let process = async || {
        let address = free_address();
        let codeyard = installation()
            .env("CODEYARD_DATABASE_URL", &url)
            .data(data.path())
            .settings(&written);
        let advertised = format!("http://{address}");
        Gateway::start_with(codeyard, &["--listen", &address, "--advertise", &advertised]).await
    };
    let (one, other) = (process().await, process().await);
    issuer
        .configure(json!({"logout_uri": format!("http://{}/sign-on/logout", one.address)}))
        .await
        .unwrap();
    let id = public_server(&one).await;
    let token = issuer.login(UserLogin::new(ANN)).await.unwrap();
    let running = send(&other, &token, "/rpc", &program(&id, LONG)).await;
    until("the program runs", async || {
        has_session(&other, &id, ANN).await.then_some(())
    })
    .await;
    let begun = Instant::now();
    issuer.logout(ANN).await.unwrap();
    ended(&running.whole().await);
    until("the session has ended", async || {
        (!has_session(&other, &id, ANN).await).then_some(())
    })
    .await;
    assert!(begun.elapsed() < ENDED_WITHIN, "{:?}", begun.elapsed());
    for gateway in [&one, &other] {
        assert_eq!(
            gateway.rest_with(Some(&token), "GET /servers", b"").await.status,
            401
        );
    }
}
