//! The end of the process: requests under way end, new ones are refused.

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::fake::Gateway;
use super::http_client::{Answer, Ask};
use super::{mcp, sse};

#[tokio::test]
async fn requests_under_way_end_and_new_ones_are_refused() {
    let gateway = Gateway::start().await;
    let late_request = Ask::new("GET", "/servers").token("ann").bytes();
    let (first, rest) = late_request.split_at(20);
    let mut late = TcpStream::connect(gateway.address).await.unwrap();
    late.write_all(first).await.unwrap();
    let running = tokio::spawn({
        let address = gateway.address;
        async move { Ask::new("GET", "/metrics").token("ann").send(address).await }
    });
    gateway.api.asked().await;
    // Connections are accepted and read in order, so the begun request has been read too.
    let healthy = gateway.send(Ask::new("GET", "/healthz")).await;
    assert_eq!(healthy.status, 200);
    gateway.shutdown.cancel();
    let refused = async {
        loop {
            let Ok(stream) = TcpStream::connect(gateway.address).await else {
                return;
            };
            drop(stream);
            tokio::task::yield_now().await;
        }
    };
    crate::client::soon("the listener to close", refused).await;
    late.write_all(rest).await.unwrap();
    let answer = Answer::read(late).await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("2")));
    assert_eq!(answer.header("connection"), Some("close"));
    gateway.api.metrics.add_permits(1);
    let answer = running.await.unwrap();
    assert_eq!((answer.status, answer.text().await.as_str()), (200, "metrics"));
    gateway.ended().await;
}

#[tokio::test]
async fn streams_end_at_once_and_surfaces_before_the_gateway() {
    let gateway = Gateway::start().await;
    let session = mcp::open(&gateway, "ann").await;
    let ask = mcp::mcp("GET", "ann").header("mcp-session-id", &session);
    let standing = gateway.send(ask).await;
    let (older, _) = sse::open(&gateway, "bob").await;
    gateway.shutdown.cancel();
    standing.end().await;
    older.end().await;
    let api = std::sync::Arc::clone(&gateway.api);
    gateway.ended().await;
    assert_eq!(*api.ended.borrow(), 2);
}

#[tokio::test]
async fn a_program_under_way_answers_before_the_end() {
    let gateway = Gateway::start().await;
    let session = mcp::open(&gateway, "ann").await;
    let message = mcp::execute(2, "wait it");
    let running = mcp::post(&gateway, "ann", &session, &message);
    let ending = async {
        gateway.api.script.logged("started wait it").await;
        gateway.shutdown.cancel();
        gateway.api.script.release("it");
    };
    let (answer, ()) = tokio::join!(running, ending);
    assert_eq!(answer.status, 200);
    assert!(answer.text().await.contains("\"id\":2"));
    gateway.ended().await;
}
