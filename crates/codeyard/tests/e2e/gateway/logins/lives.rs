//! How connections and logins live: idle ones, renewed ones, and those of two gateways on one database.

use serde_json::json;
use test_support::oauth::browse_home;
use test_support::{Codeyard, PostgresServer, Way};

use super::yard::LoginYard;
use crate::gateway::actors::ALICE;
use crate::gateway::running::until;
use crate::http::served;

#[tokio::test]
async fn an_idle_connection_ends_and_begins_again() {
    let idle = json!({"idleStop": 300});
    let yard = LoginYard::with(Codeyard::new().unwrap(), Way::Legacy, idle).await;
    yard.logged_in(&ALICE).await;
    yard.works(&ALICE).await;
    let ends = || {
        let seen = yard.guarded.inner.seen();
        seen.iter().filter(|seen| seen.method == "DELETE").count()
    };
    until("the session at the server has ended", async || {
        (ends() > 0).then_some(())
    })
    .await;
    let begun = yard.guarded.inner.seen_of("initialize").len();
    yard.works(&ALICE).await;
    assert!(yard.guarded.inner.seen_of("initialize").len() > begun);
}

#[tokio::test]
async fn an_expired_login_is_renewed_and_a_failed_renewal_asks_for_a_login() {
    let yard = LoginYard::start().await;
    yard.guarded.set(json!({"lifetime": 1})).await.unwrap();
    yard.logged_in(&ALICE).await;
    until("the login is renewed", async || {
        yard.works(&ALICE).await;
        let renewals = yard.guarded.grants("refresh_token").await.unwrap();
        (renewals > 0).then_some(())
    })
    .await;
    yard.guarded.set(json!({"forgets": true})).await.unwrap();
    until("the renewal has failed", async || {
        let called = yard.call(&ALICE).await;
        called.error().contains("needs_login").then_some(())
    })
    .await;
    let logins = yard.gateway.get(&ALICE, "/logins").await;
    assert_eq!(logins[0]["state"], "needs_login", "{logins}");
    yard.guarded
        .set(json!({"forgets": false, "lifetime": 3600}))
        .await
        .unwrap();
    yard.logged_in(&ALICE).await;
    yard.works(&ALICE).await;
}

#[tokio::test]
async fn a_renewed_login_that_the_server_refuses_asks_for_a_login() {
    let yard = LoginYard::start().await;
    yard.logged_in(&ALICE).await;
    yard.works(&ALICE).await;
    yard.guarded
        .set(json!({"audience": "https://elsewhere.example"}))
        .await
        .unwrap();
    yard.link(&ALICE).await;
    let logins = yard.gateway.get(&ALICE, "/logins").await;
    assert_eq!(logins[0]["state"], "needs_login", "{logins}");
    yard.guarded.set(json!({"audience": null})).await.unwrap();
    yard.logged_in(&ALICE).await;
    yard.works(&ALICE).await;
}

#[tokio::test]
async fn two_gateways_on_postgres_share_logins_and_renew_once() {
    let postgres = PostgresServer::start().unwrap();
    let (url, data) = (postgres.make("gateway").unwrap(), tempfile::tempdir().unwrap());
    let yard = LoginYard::over(&url, data.path()).await;
    let other = yard.beside(&url, data.path()).await;
    let link = yard.link(&ALICE).await;
    let token = yard.gateway.token(&ALICE).await;
    yard.guarded.set(json!({"person": "alice"})).await.unwrap();
    // One process begins the login, the other ends it.
    let begun = yard.submit(&link, &token, Some(&yard.origin())).await;
    let callback = browse_home(begun.header("location").unwrap()).await.unwrap();
    let path = &callback[callback.find("/logins").unwrap()..];
    let cookie = begun.header("set-cookie").unwrap().split(';').next().unwrap();
    let cookies = [("cookie", cookie)];
    let ended = served::send(&other.gateway.address, ("GET", path), &cookies, b"");
    let ended = ended.await.whole().await;
    assert_eq!(ended.status, 200, "{}", ended.text());
    for gateway in [&yard, &other] {
        gateway.works(&ALICE).await;
    }
    assert_eq!(yard.subjects().await, ["alice", "alice"]);
    // The authorization server forgets its access tokens; both renew with one refresh token, which works once.
    yard.guarded.set(json!({"refusesSeen": true})).await.unwrap();
    tokio::join!(yard.works(&ALICE), other.works(&ALICE));
    assert_eq!(yard.guarded.grants("refresh_token").await.unwrap(), 1);
    let revoked = yard.gateway.ask(&ALICE, "DELETE /logins/far", json!(null), 200);
    revoked.await;
    other.link(&ALICE).await;
}
