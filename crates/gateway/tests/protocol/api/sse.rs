//! The transport of revision 2024-11-05.

use serde_json::{Value, json};

use super::fake::{Gateway, SERVER};
use super::http_client::{Answer, Ask};
use super::mcp::{execute, initialize};

/// Opens a stream; returns it with the path for messages.
pub async fn open(gateway: &Gateway, token: &str) -> (Answer, String) {
    let ask = Ask::new("GET", format!("/servers/{SERVER}/sse")).token(token);
    let mut stream = gateway.send(ask).await;
    assert_eq!(stream.status, 200);
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    let (kind, path) = stream.event().await.unwrap();
    assert_eq!(kind, "endpoint");
    assert!(path.starts_with("/servers/s1/message?session_id="), "{path}");
    (stream, path)
}

async fn post(gateway: &Gateway, token: &str, path: &str, message: &Value) -> u16 {
    let ask = Ask::new("POST", path).token(token).json(message);
    gateway.send(ask).await.status
}

#[tokio::test]
async fn messages_are_accepted_and_answered_on_the_stream() {
    let gateway = Gateway::start().await;
    let (mut stream, path) = open(&gateway, "ann").await;
    assert_eq!(post(&gateway, "ann", &path, &initialize("2024-11-05")).await, 202);
    let answer = stream.message().await;
    assert_eq!(answer["result"]["protocolVersion"], "2024-11-05");
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(post(&gateway, "ann", &path, &initialized).await, 202);
    // The answers come in the order in which the programs end.
    assert_eq!(post(&gateway, "ann", &path, &execute(2, "wait it")).await, 202);
    gateway.api.script.logged("started wait it").await;
    assert_eq!(post(&gateway, "ann", &path, &execute(3, "return 5")).await, 202);
    let answer = stream.message().await;
    assert_eq!(
        (
            &answer["id"],
            answer["result"]["structuredContent"]["result"].as_str()
        ),
        (&json!(3), Some("5"))
    );
    gateway.api.script.release("it");
    assert_eq!(stream.message().await["id"], 2);
}

#[tokio::test]
async fn messages_to_unknown_sessions_are_refused() {
    let gateway = Gateway::start().await;
    let (_stream, path) = open(&gateway, "ann").await;
    let streamable = super::mcp::open(&gateway, "ann").await;
    let message = initialize("2024-11-05");
    for (token, path) in [
        ("bob", path.as_str()),
        ("ann", "/servers/s1/message?session_id=0123"),
        ("ann", "/servers/s1/message?session_id"),
        ("ann", "/servers/s1/message"),
        // A session of the other transport has no stream for the answers.
        ("ann", &format!("/servers/s1/message?session_id={streamable}")),
    ] {
        assert_eq!(post(&gateway, token, path, &message).await, 404, "{token} {path}");
    }
    let broken = post(&gateway, "ann", &path, &json!([])).await;
    assert_eq!(broken, 400);
}

#[tokio::test]
async fn the_session_ends_with_its_stream() {
    let gateway = Gateway::start().await;
    let (mut stream, path) = open(&gateway, "ann").await;
    post(&gateway, "ann", &path, &initialize("2024-11-05")).await;
    stream.message().await;
    post(&gateway, "ann", &path, &execute(2, "hang")).await;
    gateway.api.script.logged("started hang").await;
    drop(stream);
    gateway.api.script.logged("ended hang").await;
    gateway.api.surfaces_ended(1).await;
    assert_eq!(post(&gateway, "ann", &path, &execute(3, "return 5")).await, 404);
}
