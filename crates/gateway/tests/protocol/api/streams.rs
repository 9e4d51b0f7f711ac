//! Open streams end with their token, their permission and their virtual server.

use std::time::Duration;

use identity::Permission;
use serde_json::json;

use super::fake::{Gateway, SERVER, all_but, now_ms};
use super::http_client::{Answer, Ask};
use super::{mcp, sse};

/// Interval between two checks of a stream.
const SHORT: Duration = Duration::from_millis(20);

/// Opens a stream of each transport with the token `carl`.
async fn both(gateway: &Gateway) -> [Answer; 2] {
    let session = mcp::open(gateway, "carl").await;
    let ask = mcp::mcp("GET", "carl").header("mcp-session-id", &session);
    let standing = gateway.send(ask).await;
    assert_eq!(standing.status, 200);
    [standing, sse::open(gateway, "carl").await.0]
}

/// Checks that this change ends the streams.
async fn check(change: impl FnOnce(&Gateway)) {
    let gateway = Gateway::start_with(SHORT).await;
    gateway.api.admit("carl", "carl@example.com", None);
    let streams = both(&gateway).await;
    change(&gateway);
    for stream in streams {
        stream.end().await;
    }
    gateway.api.surfaces_ended(1).await;
}

#[tokio::test]
async fn a_revoked_token_ends_its_streams() {
    check(|gateway| gateway.api.revoke("carl")).await;
}

#[tokio::test]
async fn a_lost_permission_ends_streams() {
    check(|gateway| {
        let left = all_but(Permission::ServersUse);
        gateway.api.admit_with("carl", "carl@example.com", None, left);
    })
    .await;
}

#[tokio::test]
async fn a_deleted_server_ends_streams() {
    check(|gateway| gateway.api.delete_server()).await;
}

#[tokio::test]
async fn a_changed_server_ends_streams() {
    check(|gateway| gateway.api.change_server()).await;
}

#[tokio::test]
async fn a_database_that_stays_silent_ends_streams() {
    check(|gateway| gateway.api.set_down(true)).await;
}

#[tokio::test]
async fn an_expired_token_ends_its_streams_without_a_check() {
    let gateway = Gateway::start().await;
    // Longer than the requests that open the streams.
    let expires_ms = now_ms() + 2000;
    gateway.api.admit("carl", "carl@example.com", Some(expires_ms));
    for stream in both(&gateway).await {
        stream.end().await;
    }
    assert!(now_ms() >= expires_ms, "the streams last as long as the token");
    gateway.api.surfaces_ended(2).await;
}

#[tokio::test]
async fn a_revoked_token_ends_the_stream_of_a_running_request() {
    let gateway = Gateway::start_with(SHORT).await;
    gateway.api.admit("carl", "carl@example.com", None);
    let session = mcp::open(&gateway, "carl").await;
    let running = mcp::post(&gateway, "carl", &session, &mcp::execute(2, "hang")).await;
    assert_eq!(running.header("content-type"), Some("text/event-stream"));
    gateway.api.revoke("carl");
    running.end().await;
    gateway.api.script.logged("ended hang").await;
}

#[tokio::test]
async fn checks_leave_valid_streams_open() {
    let gateway = Gateway::start_with(Duration::from_millis(1)).await;
    let (mut stream, path) = sse::open(&gateway, "ann").await;
    let session = mcp::open(&gateway, "ann").await;
    for id in 1..=20 {
        let ping = mcp::request(id, "ping", json!({}));
        let answer = mcp::post(&gateway, "ann", &session, &ping).await;
        assert_eq!(answer.status, 200);
    }
    let ask = Ask::new("POST", path).token("ann");
    let answer = gateway.send(ask.json(&mcp::initialize("2024-11-05"))).await;
    assert_eq!(answer.status, 202);
    assert_eq!(stream.message().await["id"], 1);
}

#[tokio::test]
async fn streams_of_one_principal_leave_connections_to_others() {
    let gateway = Gateway::start().await;
    gateway.api.admit("carl", "carl@example.com", None);
    let list = |token| Ask::new("GET", "/servers").token(token);
    let mut streams = Vec::new();
    loop {
        let ask = Ask::new("GET", format!("/servers/{SERVER}/sse")).token("carl");
        let answer = gateway.send(ask).await;
        if answer.status != 200 {
            // The sessions of the endpoint are used up first.
            assert_eq!(answer.status, 503);
            break;
        }
        streams.push(answer);
    }
    assert_eq!(gateway.send(list("carl")).await.status, 200);
    assert_eq!(gateway.send(list("ann")).await.status, 200);
}

#[tokio::test]
async fn an_export_breaks_off_without_its_end_when_its_token_is_revoked_or_limited() {
    for (change, is_whole) in [(None, true), (Some(all_but(Permission::AuditRead)), false)] {
        let gateway = Gateway::start_with(SHORT).await;
        gateway.api.admit("carl", "carl@example.com", None);
        let export = gateway.send(Ask::new("GET", "/audit").token("carl")).await;
        assert_eq!(export.header("transfer-encoding"), Some("chunked"));
        if let Some(left) = change {
            gateway.api.admit_with("carl", "carl@example.com", None, left);
        }
        match is_whole {
            true => gateway.api.export.close(),
            false => gateway.api.export.add_permits(100_000_000),
        }
        assert_eq!(export.ends_whole().await, is_whole);
    }
    let gateway = Gateway::start_with(SHORT).await;
    let export = gateway.send(Ask::new("GET", "/audit").token("ann")).await;
    gateway.api.revoke("ann");
    gateway.api.export.add_permits(100_000_000);
    assert!(!export.ends_whole().await);
}
