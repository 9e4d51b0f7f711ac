//! One surface at one address, as `codeyard mcp --listen` serves it.

use gateway::{HttpConfig, Token};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::fake::ScriptConnector;
use super::http_client::Ask;
use super::mcp::{execute, initialize};
use crate::client::soon;

const TOKEN: &str = "0123456789abcdef";

#[tokio::test]
async fn one_surface_is_served_with_one_token() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let config = HttpConfig {
        listener: listener.into(),
        token: Some(Token::new(TOKEN).unwrap()),
    };
    let connector = ScriptConnector::default();
    let mut ended = connector.ended.subscribe();
    let shutdown = CancellationToken::new();
    let serving = tokio::spawn(gateway::serve_http(config, connector, shutdown.clone()));
    let ask = |method, path: &str| Ask::new(method, path).token(TOKEN);

    let refused = Ask::new("GET", "/mcp").token("eve").send(address).await;
    let bearer = Some("Bearer realm=\"codeyard\"");
    assert_eq!(
        (refused.status, refused.header("www-authenticate")),
        (401, bearer)
    );
    let other = ask("GET", "/servers").send(address).await;
    assert_eq!(
        (other.status, other.text().await.as_str()),
        (404, "the only page is /mcp")
    );
    for wrong in [ask("PUT", "/mcp"), ask("GET", "/mcp")] {
        let answer = wrong.send(address).await;
        assert_eq!(
            (answer.status, answer.header("allow")),
            (405, Some("POST, GET, DELETE"))
        );
        assert_eq!(answer.text().await, "/mcp takes POST, GET and DELETE");
    }
    let text = ask("POST", "/mcp")
        .header("content-type", "text/plain")
        .send(address)
        .await;
    assert_eq!(text.status, 415);
    assert_eq!(text.text().await, "`Content-Type` must be application/json");

    let opened = ask("POST", "/mcp")
        .json(&initialize("2025-06-18"))
        .send(address)
        .await;
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let in_session = |method| ask(method, "/mcp").header("mcp-session-id", &session);
    let ran = in_session("POST")
        .json(&execute(2, "return 5"))
        .send(address)
        .await;
    assert_eq!(ran.json().await["result"]["structuredContent"]["result"], "5");
    let stream = in_session("GET").send(address).await;
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    assert_eq!(in_session("DELETE").send(address).await.status, 200);
    stream.end().await;
    let gone = in_session("POST")
        .json(&execute(3, "return 5"))
        .send(address)
        .await;
    assert_eq!(gone.status, 404);
    assert_eq!(gone.json().await["error"]["code"], json!(-32001));
    soon("the surface to end", ended.wait_for(|ended| *ended == 1))
        .await
        .unwrap();

    shutdown.cancel();
    soon("the service to end", serving).await.unwrap().unwrap();
}
