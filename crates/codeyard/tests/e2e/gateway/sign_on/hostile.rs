//! Tokens that admit nobody, keys that rotate, and an issuer that is down.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use test_support::{RemoteServer, Way};

use super::signed_on::{ANN, BEN, SignedOn, program, send};
use crate::gateway::actors::ADMIN;
use crate::gateway::running::{installation, until};

fn parts(token: &str) -> Vec<&str> {
    token.split('.').collect()
}

#[tokio::test]
async fn changed_unsigned_and_foreign_tokens_are_refused() {
    let signed = SignedOn::start("").await;
    let token = signed.token(ANN).await;
    assert_eq!(signed.status(&token, "/servers").await, 200);
    let [header, claims, signature] = parts(&token)[..] else {
        panic!("{token}")
    };
    let none = URL_SAFE_NO_PAD.encode(json!({"alg": "none"}).to_string());
    let read: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
    let mut other = read.clone();
    other["email"] = json!(ADMIN.email);
    let other = URL_SAFE_NO_PAD.encode(other.to_string());
    for wrong in [
        format!("{none}.{claims}."),
        format!("{none}.{claims}.{signature}"),
        format!("{header}.{claims}."),
        format!("{header}.{other}.{signature}"),
        format!("{header}.{claims}.{signature}.{signature}"),
    ] {
        let refused = signed.get(&wrong, "/servers").await;
        assert_eq!(refused.status, 401, "{}", refused.text());
        assert!(!refused.text().contains(signature), "{}", refused.text());
    }
    let elsewhere = signed.token_for(ANN, "https://other.example", "mcp:use").await;
    let refused = signed.get(&elsewhere, "/servers").await;
    assert!(
        refused.status == 401 && refused.text().contains("another audience"),
        "{}",
        refused.text()
    );
    // Clocks apart by an hour.
    for (extra, expected) in [
        (json!({"iat": read["iat"].as_i64().unwrap() + 3600}), "clocks"),
        (json!({"exp": read["iat"].as_i64().unwrap() - 3600}), "expired"),
    ] {
        signed.issuer.configure(json!({"extra": extra})).await.unwrap();
        let token = signed.token(ANN).await;
        let refused = signed.get(&token, "/servers").await;
        assert!(
            refused.status == 401 && refused.text().contains(expected),
            "{}",
            refused.text()
        );
    }
}

#[tokio::test]
async fn users_whom_nobody_vouches_for_are_refused() {
    let signed = SignedOn::start("new_users = \"refuse\"\nexisting_users = \"link\"\n").await;
    let refused = async |extra: Value, text: &str| {
        signed.issuer.configure(json!({"extra": extra})).await.unwrap();
        let token = signed.token(ANN).await;
        let refused = signed.get(&token, "/servers").await;
        assert!(
            refused.status == 401 && refused.text().contains(text),
            "{}",
            refused.text()
        );
    };
    refused(json!({}), "not known here").await;
    let made = signed
        .gateway
        .command(&["user", "create", ANN, "--role", "developer"])
        .await;
    assert_eq!(made.code, 0, "{made:?}");
    signed.issuer.configure(json!({"extra": {}})).await.unwrap();
    let token = signed.token(ANN).await;
    assert_eq!(signed.status(&token, "/servers").await, 200);
    refused(json!({"email_verified": false}), "has not verified").await;
    refused(json!({"email": "ann"}), "address").await;
    refused(json!({"email": null}), "no claim `email`").await;
    refused(json!({"sub": "another account"}), "signs on with another account").await;
    refused(json!({"email": ADMIN.email}), "another user here").await;
    signed.issuer.configure(json!({"extra": {}})).await.unwrap();
    let disabled = signed.gateway.command(&["user", "disable", ANN]).await;
    assert_eq!(disabled.code, 0, "{disabled:?}");
    until("the user is refused", async || {
        (signed.status(&token, "/servers").await == 401).then_some(())
    })
    .await;
    refused(json!({}), "disabled").await;
}

#[tokio::test]
async fn keys_rotate_and_the_issuer_may_be_down() {
    let signed = SignedOn::start("").await;
    let token = signed.token(ANN).await;
    assert_eq!(signed.status(&token, "/servers").await, 200);
    signed.issuer.rotate().await.unwrap();
    let new = signed.token(BEN).await;
    // Keys are asked for at most every five seconds.
    until("the new key is read", async || {
        (signed.status(&new, "/servers").await == 200).then_some(())
    })
    .await;
    let SignedOn { gateway, issuer } = signed;
    drop(issuer);
    let listed = gateway.rest_with(Some(&new), "GET /servers", b"").await;
    assert_eq!(
        listed.status,
        200,
        "keys serve while the issuer is down: {}",
        listed.text()
    );
    // A gateway that has never read the keys says that it cannot, and goes on.
    let gateway = gateway.restart().await;
    let unread = gateway.rest_with(Some(&new), "GET /servers", b"").await;
    assert_eq!(unread.status, 503, "{}", unread.text());
    gateway.get(&ADMIN, "/servers").await;
}

#[tokio::test]
async fn a_clients_token_never_reaches_an_upstream_server() {
    let upstream = RemoteServer::start(Way::Modern).await.unwrap();
    let codeyard = installation().server_json("remote", json!({"url": upstream.url()}));
    let signed = SignedOn::start_with(codeyard, "").await;
    let id = signed.server().await;
    let token = signed.token(ANN).await;
    let code = "r = await tools.remote.add(a=1, b=2)\nprint(r['sum'])";
    let ran = send(&signed.gateway, &token, "/rpc", &program(&id, code))
        .await
        .whole()
        .await;
    assert_eq!(
        ran.json()["result"]["structuredContent"]["output"],
        "3\n",
        "{}",
        ran.text()
    );
    let seen = format!("{:?}", upstream.seen());
    assert!(seen.contains("add"), "{seen}");
    for part in parts(&token) {
        assert!(!seen.contains(part), "{seen}");
    }
    assert!(!seen.to_lowercase().contains("authorization"), "{seen}");
}
