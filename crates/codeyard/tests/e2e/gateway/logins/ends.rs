//! How logins end: by revocation, with their user, and by a sign-out at the user's issuer.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::oauth::{Guarded, browse_as};
use test_support::{Codeyard, Way};

use super::yard::{CALL, LoginYard, installation, link_in};
use crate::gateway::actors::{ADMIN, ALICE, BOB};
use crate::gateway::running::{Gateway, until};
use crate::gateway::sign_on::signed_on::{ANN, SignedOn, program, send};
use crate::http::served::Response;

/// The promise for everything that ends with a login or a user.
const ENDED: Duration = Duration::from_secs(5);

/// A program with one long call.
const LONG: &str = "print(await tools.far.slow(seconds=60))";

async fn no_logins(gateway: &Gateway) {
    until("no login is left", async || {
        let logins = gateway.get(&ADMIN, "/logins").await;
        (logins == json!([])).then_some(())
    })
    .await;
}

/// A long program has ended in time: the request is refused, the program was cancelled with its session, or its call
/// ended with the login; whichever came first.
#[track_caller]
fn stopped(answer: &Response, begun: Instant) {
    let text = answer.text();
    let is_stopped = text.contains("Cancelled") || text.contains("needs_login");
    assert!(
        answer.status == 401 || answer.status == 200 && is_stopped,
        "{text}"
    );
    assert!(begun.elapsed() < ENDED, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_revoked_login_stops_calls_within_5_s() {
    let yard = LoginYard::start().await;
    yard.logged_in(&ALICE).await;
    yard.works(&ALICE).await;
    let revoke = async {
        yard.guarded.called(2).await.unwrap();
        let begun = Instant::now();
        let words = ["logins", "revoke", "far", "--user", ALICE.email];
        let revoked = yard.gateway.command(&words).await;
        assert!(revoked.err.contains("revoked the login"), "{revoked:?}");
        begun
    };
    let long = yard.gateway.sh(&ALICE, &yard.server, LONG);
    let (ran, begun) = tokio::join!(long, revoke);
    assert!(
        ran.is_error() && begun.elapsed() < ENDED,
        "{:?} {ran:?}",
        begun.elapsed()
    );
    yard.link(&ALICE).await;
}

#[tokio::test]
async fn logins_and_calls_end_with_a_disabled_user() {
    let yard = LoginYard::start().await;
    yard.logged_in(&BOB).await;
    let token = yard.gateway.token(&BOB).await;
    let running = send(&yard.gateway, &token, "/rpc", &program(&yard.server, LONG)).await;
    yard.guarded.called(1).await.unwrap();
    let begun = Instant::now();
    let change = |disabled: bool| json!({"disabled": disabled});
    let path = format!("PUT /users/{}", BOB.email);
    yard.gateway.ask(&ADMIN, &path, change(true), 200).await;
    stopped(&running.whole().await, begun);
    yard.gateway.ask(&ADMIN, &path, change(false), 200).await;
    yard.link(&BOB).await;
    no_logins(&yard.gateway).await;
}

#[tokio::test]
async fn logins_end_with_a_removed_user() {
    let yard = LoginYard::start().await;
    yard.logged_in(&BOB).await;
    yard.works(&BOB).await;
    let path = format!("DELETE /users/{}", BOB.email);
    yard.gateway.ask(&ADMIN, &path, Value::Null, 200).await;
    no_logins(&yard.gateway).await;
    // A later user of the same address has no login.
    let token = yard.gateway.new_token(&BOB, &[]).await;
    let called = send(&yard.gateway, &token, "/rpc", &program(&yard.server, CALL)).await;
    link_in(called.whole().await.text());
    assert_eq!(yard.subjects().await, ["bob"]);
}

#[tokio::test]
async fn logins_and_calls_end_with_a_sign_out_at_the_issuer() {
    let guarded = Guarded::start(Way::Modern).await.unwrap();
    let codeyard = installation(Codeyard::new().unwrap(), &guarded, json!({}));
    let signed = SignedOn::start_with(codeyard, "").await;
    let (gateway, server) = (&signed.gateway, signed.server().await);
    let token = signed.token(ANN).await;
    let call = async |code| send(gateway, &token, "/rpc", &program(&server, code)).await;
    let link = link_in(call(CALL).await.whole().await.text());
    let page = browse_as(&link, &token).await.unwrap();
    assert!(page.contains("is logged in"), "{page}");
    let running = call(LONG).await;
    guarded.called(1).await.unwrap();
    let begun = Instant::now();
    signed.issuer.logout(ANN).await.unwrap();
    stopped(&running.whole().await, begun);
    no_logins(gateway).await;
}
