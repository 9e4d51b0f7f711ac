//! Each user's own logins to upstream servers: a real authorization server, and a gate that knows whose token a call has.

mod asked;
mod ends;
mod hostile;
mod keys;
mod lives;
mod yard;

use serde_json::json;

use self::yard::LoginYard;
use super::actors::{ADMIN, ALICE, BOB};
use super::running::{Gateway, until};

#[tokio::test]
async fn each_call_carries_its_own_users_identity() {
    let yard = LoginYard::start().await;
    for actor in [&ALICE, &BOB] {
        let link = yard.link(actor).await;
        let page = yard.log_in(actor, &link).await;
        assert!(page.contains("is logged in"), "{page}");
    }
    for actor in [&ALICE, &BOB, &ALICE, &BOB] {
        yard.works(actor).await;
    }
    let subjects = yard.subjects().await;
    assert_eq!(subjects, ["alice", "bob", "alice", "bob"]);
}

#[tokio::test]
async fn a_user_without_a_login_gets_a_link_and_no_others_tools() {
    let yard = LoginYard::start().await;
    yard.logged_in(&ALICE).await;
    yard.works(&ALICE).await;
    let link = yard.link(&BOB).await;
    assert!(link.contains("/logins/link/"), "{link}");
    assert_eq!(yard.subjects().await, ["alice"]);
    let found = yard.found(&BOB).await;
    assert!(!found.contains("add"), "{found}");
    let found = yard.found(&ALICE).await;
    assert!(found.contains("add"), "{found}");
}

#[tokio::test]
async fn a_server_of_another_team_ends_nobodys_session() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    gateway.check((&ALICE, &id), "kept = 1", "").await;
    let far = json!({"name": "far", "url": "https://far.example/mcp", "login": "user", "team_id": "team-b"});
    gateway.ask(&BOB, "POST /upstreams", far, 201).await;
    until("the server is used", async || {
        let listed = gateway.get(&ADMIN, "/upstreams").await;
        listed.to_string().contains("far.example").then_some(())
    })
    .await;
    gateway.check((&ALICE, &id), "print(kept)", "1\n").await;
}

#[tokio::test]
async fn logins_are_listed_and_revoked() {
    let yard = LoginYard::start().await;
    yard.logged_in(&ALICE).await;
    yard.logged_in(&BOB).await;
    let own = yard.gateway.get(&ALICE, "/logins").await;
    assert_eq!(own.as_array().unwrap().len(), 1, "{own}");
    assert_eq!(own[0]["user"], ALICE.email);
    assert_eq!(own[0]["state"], "valid");
    let all = yard.gateway.get(&ADMIN, "/logins").await;
    assert_eq!(all.as_array().unwrap().len(), 2, "{all}");
    let foreign = format!("DELETE /logins/far?user={}", BOB.email);
    yard.gateway
        .check_refused(&ALICE, &foreign, json!(null), (404, "not found"))
        .await;
    yard.gateway
        .ask(&ALICE, "DELETE /logins/far", json!(null), 200)
        .await;
    yard.link(&ALICE).await;
    yard.works(&BOB).await;
    assert_eq!(yard.gateway.get(&ALICE, "/logins").await, json!([]));
}
