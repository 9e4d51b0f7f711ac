//! Personal API keys, and the keys that encrypt logins.

use serde_json::json;

use super::yard::LoginYard;
use crate::gateway::actors::{ALICE, BOB, VIC};

#[tokio::test]
async fn a_personal_key_serves_its_user() {
    let yard = LoginYard::start().await;
    let set = |key: &str| json!({"key": key});
    yard.gateway
        .check_refused(&ALICE, "PUT /logins/far", set("two words"), (422, "key"))
        .await;
    yard.gateway
        .check_refused(&ALICE, "PUT /logins/none", set("a-key"), (404, "login"))
        .await;
    yard.gateway
        .check_refused(&VIC, "PUT /logins/far", set("a-key"), (403, "servers.use"))
        .await;
    yard.guarded
        .set(json!({"keys": {"alice-s3cret": "alice", "bob-s3cret": "bob"}}))
        .await
        .unwrap();
    for (actor, key) in [(&ALICE, "alice-s3cret"), (&BOB, "bob-s3cret")] {
        let stored = yard.gateway.ask(actor, "PUT /logins/far", set(key), 200).await;
        assert_eq!(stored["state"], "valid", "{stored}");
        assert!(!stored.to_string().contains("s3cret"), "{stored}");
    }
    yard.works(&ALICE).await;
    yard.works(&BOB).await;
    assert_eq!(yard.subjects().await, ["alice", "bob"]);
    // A refused key ends, and its user gets a link.
    yard.guarded
        .set(json!({"keys": {"bob-s3cret": "bob"}}))
        .await
        .unwrap();
    yard.link(&ALICE).await;
    yard.works(&BOB).await;
}

#[tokio::test]
async fn rotated_keys_cover_logins() {
    let yard = LoginYard::start().await;
    yard.logged_in(&ALICE).await;
    yard.works(&ALICE).await;
    for _ in 0..2 {
        let rotated = yard.gateway.command(&["keys", "rotate", "--json"]).await;
        assert_eq!(rotated.code, 0, "{rotated:?}");
        assert_eq!(rotated.json()["unreadable"], 0, "{rotated:?}");
        assert!(rotated.json()["logins"] == 1, "{rotated:?}");
        yard.works(&ALICE).await;
    }
    let database = std::fs::read(yard.gateway.codeyard.data_directory().join("codeyard.db")).unwrap();
    let text = String::from_utf8_lossy(&database);
    assert!(!text.contains("refresh_token") && !text.contains("token_endpoint"));
}
