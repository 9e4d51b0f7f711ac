//! Bodies that are too large, of another type or missing.

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::fake::Gateway;
use super::http_client::{Answer, Ask};
use crate::client::soon;

async fn check(gateway: &Gateway, ask: Ask, status: u16, detail: &str) {
    let answer = gateway.send(ask).await;
    let found = (answer.status, answer.json().await);
    assert_eq!(found, (status, json!({"detail": detail})));
    assert!(gateway.api.requests.borrow().is_empty());
}

#[tokio::test]
async fn bodies_are_bounded_and_json() {
    let gateway = Gateway::start().await;
    let ask = |path: &str| Ask::new("POST", path).token("ann");
    for path in ["/servers", "/rpc", "/servers/s1/mcp", "/servers/s1/message"] {
        let mut text = ask(path).header("content-type", "text/plain");
        text.body = Some(b"{}".to_vec());
        let expected = "`Content-Type` must be application/json";
        check(&gateway, text, 415, expected).await;
        let packed = ask(path).header("content-encoding", "gzip").json(&json!({}));
        let expected = "`Content-Encoding` is not supported; send the body uncompressed";
        check(&gateway, packed, 415, expected).await;
        let huge = ask(path)
            .header("content-type", "application/json")
            .header("content-length", "1073741824");
        check(&gateway, huge, 413, "the body has more than 16777216 bytes").await;
    }
}

#[tokio::test]
async fn a_body_that_grows_too_large_is_cut_off() {
    let gateway = Gateway::start().await;
    let head = Ask::new("POST", "/servers")
        .token("ann")
        .header("content-type", "application/json")
        .header("transfer-encoding", "chunked");
    let mut stream = TcpStream::connect(gateway.address).await.unwrap();
    stream.write_all(&head.bytes()).await.unwrap();
    let mut chunk = b"100000\r\n".to_vec();
    chunk.extend(vec![b' '; 0x10_0000]);
    chunk.extend(b"\r\n");
    for _ in 0..17 {
        // The server may have answered already.
        if soon("the server to read", stream.write_all(&chunk))
            .await
            .is_err()
        {
            break;
        }
    }
    let answer = Answer::read(stream).await;
    assert_eq!(answer.status, 413);
}

#[tokio::test]
async fn a_body_may_be_missing_where_none_is_needed() {
    let gateway = Gateway::start().await;
    let path = "/teams";
    assert_eq!(
        gateway.send(Ask::new("POST", path).token("ann")).await.status,
        200
    );
    assert!(gateway.api.asked().await.body.is_empty());
    let missing = Ask::new("POST", "/servers/s1/mcp").token("ann");
    assert_eq!(gateway.send(missing).await.status, 415);
    let deleting = Ask::new("DELETE", "/servers/s1")
        .token("ann")
        .json(&json!({"a": 1}));
    assert_eq!(gateway.send(deleting).await.status, 204);
    assert!(gateway.api.asked().await.body.is_empty());
}
