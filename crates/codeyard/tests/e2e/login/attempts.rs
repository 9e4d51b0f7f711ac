//! Attempts that must fail and leave nothing stored.

use serde_json::{Value, json};
use test_support::oauth::{Login, browse, browse_home};
use test_support::{Codeyard, RemoteServer, Way, run};

use crate::login::Yard;

/// With these settings of the authorization server, the login fails for this reason.
#[track_caller]
fn check(settings: Value, expected: &str) -> impl Future<Output = ()> {
    let caller = std::panic::Location::caller();
    async move {
        let yard = Yard::new().await;
        yard.guarded.set(settings).await.unwrap();
        let ended = yard.log_in(&[]).await;
        assert!(
            !ended.is_done && ended.told.contains(expected),
            "{caller}: {}",
            ended.told
        );
        assert!(!yard.file().exists(), "{caller}");
        assert_eq!(
            yard.guarded.grants("authorization_code").await.unwrap(),
            0,
            "{caller}"
        );
    }
}

#[tokio::test]
async fn an_untrustworthy_authorization_server_is_refused() {
    check(json!({"pkce": false}), "does not announce PKCE with S256").await;
    let elsewhere = json!("https://elsewhere.example");
    check(
        json!({"issuer": elsewhere}),
        "came from another authorization server: https://elsewhere.example",
    )
    .await;
    check(
        json!({"redirectIssuer": elsewhere}),
        "came from another authorization server: https://elsewhere.example",
    )
    .await;
    check(
        json!({"denies": true}),
        "did not agree: access_denied: Ann said no",
    )
    .await;
    check(json!({"down": true}), "cannot be asked").await;
}

#[tokio::test]
async fn an_answer_to_another_login_is_ignored() {
    let yard = Yard::new().await;
    let login = yard.begin(&[]).await.unwrap();
    let answer = browse_home(&login.url).await.unwrap();
    let (home, query) = answer.split_once('?').unwrap();
    let stolen = format!("{home}?{}", query.replace("state=", "state=stolen"));
    let page = browse(&stolen).await.unwrap();
    assert!(
        page.starts_with("400") && page.contains("Nothing was done with it"),
        "{page}"
    );
    // The login still waits for its own answer.
    let page = browse(&answer).await.unwrap();
    assert!(page.contains("Codeyard has the answer"), "{page}");
    assert!(login.end().await.unwrap().is_done);
    Yard::works(&yard.call().await);
}

#[tokio::test]
async fn the_answer_can_be_pasted() {
    let yard = Yard::new().await;
    let mut login = yard.begin(&["--paste"]).await.unwrap();
    let answer = browse_home(&login.url).await.unwrap();
    login.paste(&answer).await.unwrap();
    let ended = login.end().await.unwrap();
    assert!(ended.is_done, "{}", ended.told);
    for (change, expected) in [
        (("state=", "state=stolen"), "does not belong to this login"),
        (("http://", ""), "this is not an address"),
    ] {
        let mut login = yard.begin(&["--paste"]).await.unwrap();
        let answer = browse_home(&login.url).await.unwrap();
        login
            .paste(&answer.replacen(change.0, change.1, 1))
            .await
            .unwrap();
        let ended = login.end().await.unwrap();
        assert!(!ended.is_done && ended.told.contains(expected), "{}", ended.told);
    }
    // The first login stays valid.
    Yard::works(&yard.call().await);
}

#[tokio::test]
async fn the_wait_for_a_person_ends() {
    let yard = Yard::new().await;
    let login = yard.begin(&["--wait", "100ms"]).await.unwrap();
    let ended = login.end().await.unwrap();
    assert!(
        !ended.is_done && ended.told.contains("nobody logged in within"),
        "{}",
        ended.told
    );
}

#[tokio::test]
async fn a_server_without_logins_is_reported() {
    let server = RemoteServer::start(Way::Legacy).await.unwrap();
    server.require_token("x");
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .server_json("far", json!({"url": server.url()}))
        .server_json(
            "keyed",
            json!({"url": server.url(), "headers": {"Authorization": "Bearer x"}}),
        );
    for (name, expected) in [
        ("far", "it publishes no OAuth metadata"),
        ("keyed", "has credentials in its definition"),
        ("stub", "only remote servers have logins"),
        ("none", "'none' not found in configuration; there is "),
    ] {
        let ended = Login::begin(&codeyard, &[name]).await.unwrap().unwrap_err();
        assert!(
            !ended.is_done && ended.told.contains(expected),
            "{name}: {}",
            ended.told
        );
    }
}

#[tokio::test]
async fn a_client_that_was_registered_before_logs_in_with_its_secret() {
    let yard = Yard::with(json!({"clientId": "known", "clientSecretFile": "secret"})).await;
    let file = yard.codeyard.directory().join("config/codeyard/secret");
    std::fs::write(&file, "known-s3cret\n").unwrap();
    let set =
        |mode| std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    set(0o644);
    let ended = yard.log_in(&[]).await;
    assert!(
        ended.told.contains("others may read it; run `chmod 600` on it"),
        "{}",
        ended.told
    );
    set(0o600);
    let ended = yard.log_in(&[]).await;
    assert!(ended.is_done, "{}", ended.told);
    yard.expire();
    Yard::works(&yard.call().await);
    let out = yard.run(&["logout", "far"]).await;
    assert!(
        out.out.contains("its tokens are revoked"),
        "{}{}",
        out.out,
        out.err
    );
    let log = yard.guarded.log().await.unwrap();
    assert!(!log.iter().any(|entry| entry["path"] == "/reg"));
}

#[tokio::test]
async fn mistakes_in_a_definition_are_named() {
    let entry = |oauth: Value| json!({"url": "https://a.example/mcp", "oauth": oauth});
    let codeyard = Codeyard::new()
        .unwrap()
        .server_json("kind", entry(json!("yes")))
        .server_json("near", entry(json!({"clientID": "x"})))
        .server_json("lone", entry(json!({"clientSecretFile": "s"})))
        .server_json("blank", entry(json!({"clientId": " "})))
        .server_json("scope", entry(json!({"scopes": ["a b"]})))
        .server_json(
            "both",
            json!({"url": "https://a.example/mcp", "oauth": {}, "bearerTokenFile": "t"}),
        );
    let told = run(&codeyard, &["config", "check"], "").await;
    let told = format!("{}{}", told.out, told.err);
    for expected in [
        "mcpServers.kind.oauth: expected an object",
        "mcpServers.near.oauth.clientID: is not a field of this object; did you mean `clientId`?",
        "mcpServers.lone.oauth.clientSecretFile: has no effect without `clientId`",
        "mcpServers.blank.oauth.clientId: is empty",
        "mcpServers.scope.oauth.scopes[0]: is not a scope",
        "mcpServers.both.oauth: conflicts with the definition's other credentials",
    ] {
        assert!(told.contains(expected), "{expected}\n---\n{told}");
    }
}
