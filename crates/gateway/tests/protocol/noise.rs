//! Lines that are not requests: the protocol's error, and the connection continues.

use serde_json::{Value, json};

use crate::client::{Client, error_of};

#[tokio::test]
async fn c332_noise_is_survived() {
    let mut client = Client::connected().await;
    client.raw(b"\n\r\n   \n\r\n").await;
    client.raw(b"this is garbage\n").await;
    let answer = client.next().await;
    assert_eq!((answer["id"].clone(), error_of(&answer).0), (Value::Null, -32700));
    assert!(
        answer.as_object().unwrap().contains_key("id"),
        "the id is null, not absent"
    );
    let big = "x".repeat(2 * 1024 * 1024);
    client.execute("big", &format!("return {big}")).await;
    let answer = client.next().await;
    assert_eq!(answer["result"]["structuredContent"]["result"], big);
    client
        .raw(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n")
        .await;
    assert_eq!(
        client.next().await,
        json!({"jsonrpc": "2.0", "id": 1, "result": {}})
    );
    assert!(client.finish().await.is_empty());
}

#[tokio::test]
async fn each_line_gets_at_most_one_error() {
    let mut client = Client::connected().await;
    client
        .raw(b"{\n}\n[]\n{\"jsonrpc\":\"2.0\",\"id\":8}\n\xff\xfe\n")
        .await;
    let mut codes = Vec::new();
    for _ in 0..5 {
        let answer = client.next().await;
        codes.push((answer["id"].clone(), error_of(&answer).0));
    }
    let null = Value::Null;
    assert_eq!(
        codes,
        [
            (null.clone(), -32700),
            (null.clone(), -32700),
            (null.clone(), -32600),
            (json!(8), -32600),
            (null, -32700)
        ]
    );
    client.check_alive().await;
}

#[tokio::test]
async fn a_line_of_more_than_16_mib_is_refused() {
    let mut client = Client::connected().await;
    client
        .raw(b"{\"jsonrpc\":\"2.0\",\"id\":41,\"method\":\"tools/call\",\"params\":{\"code\":\"")
        .await;
    let chunk = vec![b'x'; 1024 * 1024];
    for _ in 0..17 {
        client.raw(&chunk).await;
    }
    let answer = client.next().await;
    assert_eq!(
        (answer["id"].clone(), error_of(&answer).0),
        (json!(41), -32600),
        "told before the line ends"
    );
    client.raw(b"\"}}\n").await;
    client.check_alive().await;
}

#[tokio::test]
async fn before_initialize_only_errors_are_answered() {
    let mut client = Client::silent();
    client
        .send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
    client
        .send(json!({"jsonrpc": "2.0", "id": 1, "result": {}}))
        .await;
    client.cancel(1).await;
    client.raw(b"garbage\n").await;
    assert_eq!(error_of(&client.next().await).0, -32700);
    let (code, message) = client.error("tools/list", json!({})).await;
    assert_eq!(
        (code, message.as_str()),
        (
            -32600,
            "`tools/list` before `initialize`; call `initialize` first"
        )
    );
    client.execute(5, "return 1").await;
    assert_eq!(error_of(&client.next().await).0, -32600);
    assert_eq!(client.call("ping", json!({})).await["result"], json!({}));
    assert!(client.script.requests().is_empty(), "nothing ran");
    client.initialize("2025-11-25").await;
    client.check_alive().await;
}

#[tokio::test]
async fn an_invalid_initialize_is_refused() {
    let mut client = Client::silent();
    let answer = client.call("initialize", json!({"protocolVersion": 5})).await;
    assert_eq!(error_of(&answer).0, -32600);
    client.initialize("2025-11-25").await;
    client.check_alive().await;
}

#[tokio::test]
async fn answers_to_nothing_are_ignored() {
    let mut client = Client::connected().await;
    client
        .send(json!({"jsonrpc": "2.0", "id": 7, "result": {}}))
        .await;
    client
        .send(json!({"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": "x"}}))
        .await;
    client
        .send(json!({"jsonrpc": "2.0", "method": "notifications/unknown", "params": {"x": 1}}))
        .await;
    client.check_alive().await;
}

#[tokio::test]
async fn an_id_is_used_once_at_a_time() {
    let mut client = Client::connected().await;
    client.execute(7, "wait first").await;
    client.script.logged("started wait first").await;
    client.execute(7, "return second").await;
    let answer = client.next().await;
    assert_eq!(answer["id"], 7);
    assert_eq!(
        error_of(&answer),
        (
            -32600,
            "Invalid request: a request with id 7 is under way already".to_owned()
        )
    );
    client.execute("7", "return other").await;
    assert_eq!(client.next().await["id"], "7", "a text is another id");
    client.script.release("first");
    let answer = client.next().await;
    assert_eq!(
        (
            answer["id"].clone(),
            answer["result"]["structuredContent"]["result"].clone()
        ),
        (json!(7), json!("first"))
    );
    client.execute(7, "return again").await;
    assert_eq!(
        client.next().await["result"]["structuredContent"]["result"],
        "again"
    );
}

#[tokio::test]
async fn requests_under_way_are_bounded() {
    let mut client = Client::connected().await;
    for id in 0..512 {
        client.execute(id, "wait all").await;
    }
    client.execute(512, "wait all").await;
    let answer = client.next().await;
    assert_eq!((answer["id"].clone(), error_of(&answer).0), (json!(512), -32000));
    client.script.release("all");
    assert_eq!(client.answers(512).await.len(), 512);
    client.check_alive().await;
}
