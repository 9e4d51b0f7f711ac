//! Ends of a connection: whichever side leaves, nothing hangs and nothing keeps running.

use std::time::Duration;

use serde_json::json;

use crate::client::{Client, soon};

#[tokio::test]
async fn closing_the_input_ends_runs_and_answers_them() {
    let mut client = Client::connected().await;
    client.execute(1, "hang").await;
    client.script.logged("started hang").await;
    let script = client.script.clone();
    let start = std::time::Instant::now();
    let rest = client.finish().await;
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    script.logged("ended hang").await;
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0]["result"]["structuredContent"]["status"], "cancelled");
}

#[tokio::test]
async fn closing_the_input_before_the_handshake_is_an_end() {
    assert!(Client::silent().finish().await.is_empty());
    let mut client = Client::silent();
    client.call("ping", json!({})).await;
    assert!(client.finish().await.is_empty());
}

#[tokio::test]
async fn a_last_line_without_its_end_is_served() {
    let mut client = Client::connected().await;
    client
        .raw(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}")
        .await;
    assert_eq!(
        client.finish().await,
        [json!({"jsonrpc": "2.0", "id": 1, "result": {}})]
    );
    let mut client = Client::connected().await;
    client.raw(b"{\"jsonrpc\":\"2.0\",\"id\":1,").await;
    let rest = client.finish().await;
    assert_eq!(rest[0]["error"]["code"], -32700);
}

#[tokio::test]
async fn a_client_that_closes_its_reading_side_does_not_end_its_runs() {
    let mut client = Client::connected().await;
    client.execute(1, "wait a").await;
    client.script.logged("started wait a").await;
    drop(client.from_server.take());
    client.execute(2, "return b").await;
    client.script.logged("ended return b").await;
    client.execute(3, "return c").await;
    client.script.logged("ended return c").await;
    client.script.release("a");
    client.script.logged("ended wait a").await;
    assert!(!client.events.closed.is_cancelled());
    drop(client.to_server.take());
    client.ended().await;
}

#[tokio::test]
async fn a_client_that_does_not_read_delays_no_run() {
    let mut client = Client::with_buffer(256);
    client.initialize("2025-11-25").await;
    for id in 0..200 {
        client.execute(id, &format!("return {id}")).await;
    }
    client.script.logged("ended return 199").await;
    let answers = client.answers(200).await;
    assert_eq!(answers["199"]["result"]["structuredContent"]["result"], "199");
    client.check_alive().await;
}

#[tokio::test]
async fn a_client_that_sends_garbage_and_does_not_read_is_not_waited_for() {
    let mut client = Client::with_buffer(256);
    client.initialize("2025-11-25").await;
    for _ in 0..300 {
        client.raw(b"garbage\n").await;
    }
    client.execute(1, "return after garbage").await;
    client.script.logged("ended return after garbage").await;
    drop(client.to_server.take());
    soon("the end to be noticed", client.events.closed.cancelled()).await;
    let start = std::time::Instant::now();
    client.ended().await;
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_shutdown_ends_runs_and_answers_them() {
    let mut client = Client::connected().await;
    client.execute(1, "hang").await;
    client.script.logged("started hang").await;
    client.shutdown.cancel();
    assert_eq!(
        client.next().await["result"]["structuredContent"]["status"],
        "cancelled"
    );
    assert_eq!(client.line().await, None);
    client.ended().await;
}

#[tokio::test]
async fn a_shutdown_before_the_handshake_is_an_end() {
    let mut client = Client::silent();
    client.call("ping", json!({})).await;
    client.shutdown.cancel();
    client.ended().await;
}

#[tokio::test]
async fn the_first_answer_is_announced() {
    let mut client = Client::silent();
    assert!(!client.events.answered.is_cancelled());
    client.initialize("2025-11-25").await;
    soon("the announcement", client.events.answered.cancelled()).await;
}
