//! The life of a login: used, renewed, shared by processes, extended, ended.

use std::os::unix::fs::PermissionsExt as _;

use futures_util::future::join_all;
use serde_json::json;
use test_support::CodeClient;
use test_support::oauth::{Login, browse};

use crate::login::{CALL, Yard};

#[tokio::test]
async fn a_login_gives_access_until_its_end() {
    let yard = Yard::new().await;
    let tried = yard.run(&["servers", "test", "far"]).await;
    Yard::fails(
        &tried,
        "it asks for credentials (HTTP 401); log in with `codeyard login far`",
    );
    let ended = yard.log_in(&[]).await;
    assert!(ended.is_done, "{}", ended.told);
    let issuer = yard.guarded.issuer();
    let expected =
        format!("logged in to `far` at {issuer}, which allows tools:read; it is renewed by itself");
    assert!(ended.told.contains(&expected), "{}", ended.told);
    Yard::works(&yard.call().await);
    assert_eq!(yard.row().await["login"], "logged in");
    let mode = std::fs::metadata(yard.file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let log = yard.guarded.log().await.unwrap();
    let exchange = log
        .iter()
        .find(|entry| entry["grant"] == "authorization_code")
        .unwrap();
    assert_eq!(exchange["resource"], yard.guarded.url());
    let out = yard.run(&["logout", "far"]).await;
    assert!(
        out.out.contains("logged out of `far`; its tokens are revoked"),
        "{}",
        out.out
    );
    assert!(!yard.file().exists());
    let log = yard.guarded.log().await.unwrap();
    assert!(
        log.iter()
            .any(|entry| entry["path"] == "/token/revocation" && entry["status"] == 200)
    );
    Yard::fails(&yard.call().await, "log in with `codeyard login far`");
    let again = yard.run(&["logout", "far"]).await;
    assert!(again.out.contains("there was no login"), "{}", again.out);
}

#[tokio::test]
async fn a_running_codeyard_notices_a_login_and_its_end_at_the_next_request() {
    let Yard { codeyard, guarded } = Yard::new().await;
    let mut client = CodeClient::of(codeyard).await;
    let program = "return await tools.far.add(a=2, b=3)";
    for _ in 0..6 {
        let ran = client.run(program).await;
        assert!(
            ran.error().contains("log in with `codeyard login far`"),
            "{}",
            ran.shown()
        );
    }
    let listed = test_support::run(&client.codeyard, &["servers", "--json"], "").await;
    assert_eq!(listed.json()["servers"][0]["state"], "needs login");
    let table = test_support::run(&client.codeyard, &["servers"], "").await.out;
    assert!(table.contains("needs login: codeyard login far"), "{table}");
    let login = Login::begin(&client.codeyard, &["far"]).await.unwrap().unwrap();
    browse(&login.url).await.unwrap();
    assert!(login.end().await.unwrap().is_done);
    let ran = client.run(program).await;
    assert_eq!(ran.result(), &json!({"sum": 5}), "{}", ran.shown());
    let out = test_support::run(&client.codeyard, &["logout", "far"], "").await;
    assert_eq!(out.code, 0, "{}", out.err);
    let ran = client.run(program).await;
    assert!(
        ran.error().contains("log in with `codeyard login far`"),
        "{}",
        ran.shown()
    );
    drop(guarded);
}

#[tokio::test]
async fn a_token_is_renewed_when_it_expires_and_when_it_is_refused() {
    let yard = Yard::logged_in().await;
    Yard::works(&yard.call().await);
    assert_eq!(yard.guarded.grants("refresh_token").await.unwrap(), 0);
    let before = yard.login();
    yard.expire();
    Yard::works(&yard.call().await);
    assert_eq!(yard.guarded.grants("refresh_token").await.unwrap(), 1);
    let after = yard.login();
    for token in ["access", "refresh"] {
        assert_ne!(before["tokens"][token], after["tokens"][token], "{token}");
    }
    yard.change("/tokens/access", json!("of-another-life"));
    Yard::works(&yard.call().await);
    assert_eq!(yard.guarded.grants("refresh_token").await.unwrap(), 2);
    let log = yard.guarded.log().await.unwrap();
    let renewal = log
        .iter()
        .find(|entry| entry["grant"] == "refresh_token")
        .unwrap();
    assert_eq!(renewal["resource"], yard.guarded.url());
}

#[tokio::test]
async fn processes_that_renew_at_once_use_a_token_once() {
    let yard = Yard::logged_in().await;
    yard.expire();
    // Each writes the configuration before the first one reads it.
    let mut commands: Vec<_> = (0..4).map(|_| yard.codeyard.command(CALL).unwrap()).collect();
    for called in join_all(commands.iter_mut().map(|command| command.output())).await {
        let called = called.unwrap();
        assert!(
            called.status.success(),
            "{}",
            String::from_utf8_lossy(&called.stderr)
        );
    }
    // A second use of the same token would have ended the login.
    assert_eq!(yard.guarded.grants("refresh_token").await.unwrap(), 1);
}

#[tokio::test]
async fn a_failed_renewal_is_reported() {
    let yard = Yard::logged_in().await;
    yard.expire();
    yard.guarded.set(json!({"down": true})).await.unwrap();
    Yard::fails(
        &yard.call().await,
        "its login could not be renewed: it answered HTTP 503",
    );
    yard.guarded.set(json!({"down": false})).await.unwrap();
    Yard::works(&yard.call().await);
    yard.expire();
    yard.change("/tokens/refresh", json!("revoked-elsewhere"));
    let called = yard.call().await;
    Yard::fails(
        &called,
        "its login has ended, because it could not be renewed (invalid_grant",
    );
    Yard::fails(&called, "log in again with `codeyard login far`");
    assert_eq!(yard.row().await["login"], "login ended");
    assert!(yard.log_in(&[]).await.is_done);
    Yard::works(&yard.call().await);
}

#[tokio::test]
async fn a_login_without_renewal_expires() {
    let yard = Yard::new().await;
    yard.guarded.set(json!({"renewable": false})).await.unwrap();
    let ended = yard.log_in(&[]).await;
    assert!(
        ended.told.contains("it ends in 3600 s and cannot be renewed"),
        "{}",
        ended.told
    );
    Yard::works(&yard.call().await);
    let login = yard.row().await["login"].as_str().unwrap().to_owned();
    assert!(login.starts_with("logged in until 20"), "{login}");
    yard.expire();
    Yard::fails(
        &yard.call().await,
        "its login has ended; log in again with `codeyard login far`",
    );
    assert_eq!(yard.row().await["login"], "login ended");
}

#[tokio::test]
async fn a_login_with_more_scopes_allows_more() {
    let yard = Yard::logged_in().await;
    yard.guarded.set(json!({"writes": ["add"]})).await.unwrap();
    let called = yard.call().await;
    Yard::fails(
        &called,
        "the login does not allow this (HTTP 403): it needs the scope 'tools:read tools:write'; \
         `codeyard login far --scope 'tools:read tools:write'` asks for it",
    );
    let ended = yard.log_in(&["--scope", "tools:write"]).await;
    assert!(
        ended.told.contains("which allows tools:read tools:write"),
        "{}",
        ended.told
    );
    Yard::works(&yard.call().await);
}
