//! How a client finds the issuer, and which scopes it is told to ask for.

use serde_json::{Value, json};

use super::signed_on::{ANN, SignedOn, program, send};
use crate::gateway::running::Gateway;

const SCOPES: &str =
    "scopes = { \"mcp:read\" = [\"servers.read\"], \"mcp:use\" = [\"servers.read\", \"servers.use\"] }\n";

#[tokio::test]
async fn a_client_without_a_token_is_led_to_the_issuer() {
    let signed = SignedOn::start(SCOPES).await;
    let id = signed.server().await;
    let origin = signed.resource();
    let metadata = "/.well-known/oauth-protected-resource";
    for (request, path) in [
        (format!("POST /servers/{id}/mcp"), format!("/servers/{id}/mcp")),
        (format!("GET /servers/{id}/sse"), format!("/servers/{id}/sse")),
        (
            format!("POST /servers/{id}/message"),
            format!("/servers/{id}/sse"),
        ),
        ("GET /servers".to_owned(), String::new()),
        ("POST /rpc".to_owned(), String::new()),
    ] {
        let refused = signed.gateway.rest_with(None, &request, b"{}").await;
        let expected = format!("Bearer resource_metadata=\"{origin}{metadata}{path}\"");
        assert_eq!(
            (refused.status, refused.header("www-authenticate")),
            (401, Some(expected.as_str())),
            "{request}"
        );
        let described = signed
            .gateway
            .rest_with(None, &format!("GET {metadata}{path}"), b"")
            .await;
        let document = described.json();
        assert_eq!(
            document["resource"],
            json!(format!("{origin}{path}")),
            "{document}"
        );
        assert_eq!(
            document["authorization_servers"],
            json!([signed.issuer.url]),
            "{document}"
        );
        assert_eq!(
            document["scopes_supported"],
            json!(["mcp:read", "mcp:use"]),
            "{document}"
        );
        assert_eq!(
            document["bearer_methods_supported"],
            json!(["header"]),
            "{document}"
        );
    }
    let refused = signed.get("a.b.c", "/servers").await;
    let challenge = refused.header("www-authenticate").unwrap().to_owned();
    assert!(
        challenge.contains("error=\"invalid_token\"") && challenge.contains("error_description="),
        "{challenge}"
    );
}

#[tokio::test]
async fn a_missing_scope_is_named() {
    let signed = SignedOn::start(SCOPES).await;
    let id = signed.server().await;
    let token = signed.token_for(ANN, &signed.resource(), "mcp:read").await;
    assert_eq!(signed.status(&token, "/servers").await, 200);
    let refused = send(&signed.gateway, &token, "/rpc", &program(&id, "print(1)"))
        .await
        .whole()
        .await;
    let challenge = refused.header("www-authenticate").unwrap_or_default().to_owned();
    assert_eq!(refused.status, 403, "{}", refused.text());
    assert!(
        challenge.contains("error=\"insufficient_scope\"")
            && challenge.contains("scope=\"mcp:read mcp:use\""),
        "{challenge}"
    );
    // A scope does not help where the role lacks the permission.
    let refused = signed.get(&token, "/users").await;
    assert_eq!((refused.status, refused.header("www-authenticate")), (403, None));
    let token = signed.token(ANN).await;
    let ran = send(&signed.gateway, &token, "/rpc", &program(&id, "print(1)"))
        .await
        .whole()
        .await;
    assert_eq!(ran.status, 200, "{}", ran.text());
}

#[tokio::test]
async fn a_token_for_one_virtual_server_opens_no_other() {
    let signed = SignedOn::start("").await;
    let (one, other) = (signed.server().await, signed.server().await);
    let resource = format!("{}/servers/{one}/mcp", signed.resource());
    let token = signed.token_for(ANN, &resource, "mcp:use").await;
    let opened = super::signed_on::opened;
    assert_eq!(opened(&signed.gateway, &token, &one).await, 200);
    assert_eq!(opened(&signed.gateway, &token, &other).await, 401);
    assert_eq!(signed.status(&token, "/servers").await, 401);
    assert_eq!(signed.status(&token, &format!("/servers/{one}")).await, 401);
}

#[tokio::test]
async fn without_issuers_nothing_is_said_of_them() {
    let gateway = Gateway::with_stub().await;
    let refused = gateway.rest_with(None, "GET /servers", b"").await;
    assert_eq!(
        (refused.status, refused.header("www-authenticate")),
        (401, Some("Bearer"))
    );
    for request in [
        "GET /.well-known/oauth-protected-resource",
        "GET /.well-known/oauth-protected-resource/servers/a/mcp",
    ] {
        assert_eq!(
            gateway.rest_with(None, request, b"").await.status,
            404,
            "{request}"
        );
    }
    let refused = gateway
        .rest_with(
            Some("a.b.c"),
            "GET /servers",
            &Value::Null.to_string().into_bytes(),
        )
        .await;
    assert_eq!(refused.status, 401);
}
