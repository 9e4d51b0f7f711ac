//! Invalid logins: tokens for other audiences and untrusted files; secrets are never shown.

use serde_json::json;

use crate::login::Yard;

#[tokio::test]
async fn a_token_for_another_audience_is_refused_and_reported() {
    let yard = Yard::logged_in().await;
    yard.guarded
        .set(json!({"audience": "https://other.example/mcp"}))
        .await
        .unwrap();
    Yard::fails(
        &yard.call().await,
        "it does not accept the login (HTTP 401: the token is for another audience); log in again",
    );
}

#[tokio::test]
async fn a_login_for_another_address_is_ignored() {
    let yard = Yard::logged_in().await;
    yard.change("/server", json!("https://other.example/mcp"));
    Yard::fails(&yard.call().await, "it asks for credentials (HTTP 401)");
    assert_eq!(yard.row().await["login"], json!(null));
}

#[tokio::test]
async fn an_untrusted_file_is_set_aside() {
    let yard = Yard::logged_in().await;
    let whole = std::fs::read_to_string(yard.file()).unwrap();
    let check = async |content: &str, mode: u32, why: &str| {
        std::fs::write(yard.file(), content).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(yard.file(), mode).unwrap();
        let called = yard.call().await;
        Yard::fails(&called, "it asks for credentials (HTTP 401)");
        Yard::fails(&called, why);
        assert!(!yard.file().exists(), "{why}");
    };
    check(
        &whole[..whole.len() / 2],
        0o600,
        "is not used, because it is truncated",
    )
    .await;
    check(&whole, 0o644, "is not used, because others may read it").await;
    let kept = std::fs::read_dir(yard.file().parent().unwrap()).unwrap();
    let kept = kept.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with("far.json.unusable-")
    });
    assert!(kept.count() >= 1);
}

#[tokio::test]
async fn no_secret_is_shown_or_logged() {
    let yard = Yard::new().await;
    let mut told = yard.log_in(&["--log", "trace"]).await.told;
    let mut secrets = Vec::new();
    let mut remember = || {
        for token in ["access", "refresh"] {
            secrets.push(yard.login()["tokens"][token].as_str().unwrap().to_owned());
        }
    };
    remember();
    yard.expire();
    for arguments in [
        &["call", "far.add", r#"{"a": 2, "b": 3}"#, "--log", "trace"][..],
        &["servers", "--json"],
        &["servers", "test", "far", "--json"],
        &["config", "show"],
        &["runs"],
    ] {
        let ended = yard.run(arguments).await;
        told.push_str(&ended.out);
        told.push_str(&ended.err);
    }
    remember();
    let ended = yard.run(&["logout", "far", "--log", "trace"]).await;
    told.push_str(&ended.err);
    for secret in &secrets {
        assert!(!told.contains(secret), "{secret} in\n{told}");
    }
    assert!(
        !told.contains("?code=") && !told.contains("code_verifier"),
        "{told}"
    );
}
