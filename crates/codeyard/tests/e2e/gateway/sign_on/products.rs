//! The tokens of each product open every way in, and its claims give teams and roles.

use serde_json::{Value, json};
use test_support::{Issuer, UserLogin};

use super::signed_on::{ANN, BEN, SignedOn, opened, program, public_server, send, settings};
use crate::gateway::actors::ADMIN;
use crate::gateway::running::{Gateway, installation};

/// A product with its audience, and the settings that its claims need.
async fn check(profile: &str, audience: &str, more: &str) {
    let issuer = Issuer::start(profile).await.unwrap();
    let written = settings(&issuer, audience, &format!("role = \"developer\"\n{more}"));
    let gateway = Gateway::start(installation().settings(&written)).await;
    let server = public_server(&gateway).await;
    let token = issuer.login(UserLogin::new(ANN)).await.unwrap();
    let listed = gateway.rest_with(Some(&token), "GET /servers", b"").await;
    assert_eq!(listed.status, 200, "{profile}: {}", listed.text());
    assert!(listed.text().contains(&server), "{profile}: {}", listed.text());
    let ran = send(&gateway, &token, "/rpc", &program(&server, "print('hello')"))
        .await
        .whole()
        .await;
    assert_eq!(
        ran.json()["result"]["structuredContent"]["output"],
        "hello\n",
        "{profile}: {}",
        ran.text()
    );
    assert_eq!(opened(&gateway, &token, &server).await, 200, "{profile}");
    // The rule makes ann an admin of the team `crm`, and nobody else.
    let ben = issuer.login(UserLogin::new(BEN)).await.unwrap();
    assert_eq!(
        gateway.rest_with(Some(&ben), "GET /servers", b"").await.status,
        200,
        "{profile}"
    );
    let members = gateway.get(&ADMIN, "/teams/crm/members").await;
    let members = members["members"].as_array().unwrap();
    let found: Vec<_> = members
        .iter()
        .map(|member| (&member["user"], &member["role"]))
        .collect();
    assert_eq!(found, [(&json!(ANN), &json!("team_admin"))], "{profile}");
    let user = gateway.get(&ADMIN, &format!("/users/{ANN}")).await;
    assert_eq!(user["role"], "developer", "{profile}: {user}");
}

fn rule(claim: &str) -> String {
    format!(
        "[[gateway.issuers.claims]]\nclaim = \"{claim}\"\nvalue = \"ann\"\nteam = \"crm\"\nrole = \"team_admin\"\n"
    )
}

#[tokio::test]
async fn tokens_of_entra_sign_users_on() {
    let audience = "6f2c1f0e-4b6a-4f57-9a0a-0d2f6f7b8c11";
    check(
        "entra",
        audience,
        &format!("user_claim = \"preferred_username\"\n{}", rule("roles")),
    )
    .await;
}

#[tokio::test]
async fn tokens_of_okta_sign_users_on() {
    check("okta", "api://default", &rule("groups")).await;
}

#[tokio::test]
async fn tokens_of_keycloak_sign_users_on() {
    check("keycloak", "codeyard", &rule("realm_access.roles")).await;
}

#[tokio::test]
async fn rights_follow_the_claims() {
    let admins =
        "[[gateway.issuers.claims]]\nclaim = \"groups\"\nvalue = \"admins\"\nrole = \"platform_admin\"\n";
    let team = "[[gateway.issuers.claims]]\nclaim = \"groups\"\nvalue = \"crm\"\nteam = \"crm\"\n";
    let signed = SignedOn::start(&format!("{admins}{team}")).await;
    let role = async || signed.gateway.get(&ADMIN, &format!("/users/{ANN}")).await["role"].clone();
    let sees_users = async |groups: Value| {
        signed
            .issuer
            .configure(json!({"extra": {"groups": groups}}))
            .await
            .unwrap();
        let token = signed.token(ANN).await;
        (
            signed.status(&token, "/users").await,
            signed.status(&token, "/teams/crm").await,
        )
    };
    signed.gateway.token(&ADMIN).await;
    assert_eq!(sees_users(json!(["crm"])).await, (403, 200));
    assert_eq!(role().await, "developer");
    assert_eq!(
        sees_users(json!(["admins"])).await,
        (200, 200),
        "an admin sees every team"
    );
    assert_eq!(role().await, "platform_admin");
    assert_eq!(sees_users(json!([])).await, (403, 404));
    assert_eq!(role().await, "developer");
    let audit = signed.gateway.get(&ADMIN, "/audit?limit=50").await.to_string();
    let actor = format!("issuer {}", signed.issuer.url);
    assert!(
        audit.contains(&actor) && audit.contains("member.remove"),
        "{audit}"
    );
}
