//! MCP of both eras for several principals at one virtual server.

use serde_json::{Value, json};

use super::fake::{Gateway, SERVER};
use super::http_client::{Answer, Ask};

pub fn initialize(version: &str) -> Value {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
    request(1, "initialize", params)
}

pub fn request(id: i64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub fn execute(id: i64, code: &str) -> Value {
    request(
        id,
        "tools/call",
        json!({"name": "execute_code", "arguments": {"code": code}}),
    )
}

pub fn mcp(method: &'static str, token: &str) -> Ask {
    Ask::new(method, format!("/servers/{SERVER}/mcp")).token(token)
}

pub async fn post(gateway: &Gateway, token: &str, session: &str, message: &Value) -> Answer {
    let ask = mcp("POST", token).header("mcp-session-id", session).json(message);
    gateway.send(ask).await
}

/// Opens a session; returns its id.
pub async fn open(gateway: &Gateway, token: &str) -> String {
    let answer = gateway
        .send(mcp("POST", token).json(&initialize("2025-11-25")))
        .await;
    assert_eq!(answer.status, 200);
    let session = answer.header("mcp-session-id").unwrap().to_owned();
    assert_eq!(answer.json().await["result"]["serverInfo"]["name"], "codeyard");
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(post(gateway, token, &session, &initialized).await.status, 202);
    session
}

fn modern(token: &str, mut message: Value, name: Option<&str>) -> Ask {
    message["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    let method = message["method"].as_str().unwrap().to_owned();
    let ask = mcp("POST", token)
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", &method);
    let ask = match name {
        Some(name) => ask.header("mcp-name", name),
        None => ask,
    };
    ask.json(&message)
}

async fn check_runs(gateway: &Gateway, token: &str, session: &str) {
    let answer = post(gateway, token, session, &execute(7, "return alive")).await;
    assert_eq!(answer.status, 200);
    let answer = answer.json().await;
    assert_eq!(
        answer["result"]["structuredContent"]["result"], "alive",
        "{answer}"
    );
}

async fn check_unknown(answer: Answer) {
    let (status, body) = (answer.status, answer.json().await);
    assert_eq!((status, &body["error"]["code"]), (404, &json!(-32001)), "{body}");
}

#[tokio::test]
async fn sessions_of_other_principals_and_tokens_are_unknown() {
    let gateway = Gateway::start().await;
    gateway.api.admit("ann2", "ann@example.com", None);
    let ann = open(&gateway, "ann").await;
    let bob = open(&gateway, "bob").await;
    check_runs(&gateway, "ann", &ann).await;
    check_runs(&gateway, "bob", &bob).await;
    for (token, session) in [("bob", &ann), ("ann2", &ann), ("ann", &bob)] {
        check_unknown(post(&gateway, token, session, &execute(1, "return x")).await).await;
        for method in ["GET", "DELETE"] {
            let ask = mcp(method, token).header("mcp-session-id", session);
            check_unknown(gateway.send(ask).await).await;
        }
        // No other answer for an id that nobody has.
        check_unknown(post(&gateway, token, "0123", &execute(1, "return x")).await).await;
    }
    check_runs(&gateway, "ann", &ann).await;
    let ended = gateway
        .send(mcp("DELETE", "ann").header("mcp-session-id", &ann))
        .await;
    assert_eq!(ended.status, 200);
    check_unknown(post(&gateway, "ann", &ann, &execute(1, "return x")).await).await;
    check_runs(&gateway, "bob", &bob).await;
}

// A cancellation names a request by an id that clients choose.
#[tokio::test]
async fn a_cancellation_reaches_only_the_own_requests() {
    let gateway = Gateway::start().await;
    let ann = open(&gateway, "ann").await;
    let bob = open(&gateway, "bob").await;
    let waiting = execute(9, "wait ann");
    let running = post(&gateway, "ann", &ann, &waiting);
    let cancelling = async {
        gateway.api.script.logged("started wait ann").await;
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}});
        assert_eq!(post(&gateway, "bob", &bob, &cancel).await.status, 202);
        let shared = modern("bob", cancel, None);
        assert_eq!(gateway.send(shared).await.status, 202);
        check_runs(&gateway, "bob", &bob).await;
        gateway.api.script.release("ann");
    };
    let (answer, ()) = tokio::join!(running, cancelling);
    assert_eq!(answer.status, 200);
    gateway.api.script.logged("ended wait ann").await;
}

#[tokio::test]
async fn the_stateless_era_is_served_to_each_principal() {
    let gateway = Gateway::start().await;
    for token in ["ann", "bob"] {
        let ask = modern(token, execute(3, "return 5"), Some("execute_code"));
        let answer = gateway.send(ask).await;
        assert_eq!(answer.status, 200);
        let answer = answer.json().await;
        assert_eq!(answer["id"], 3);
        assert_eq!(answer["result"]["structuredContent"]["result"], "5");
        let wrong = modern(token, execute(3, "return 5"), Some("search_tools"));
        let answer = gateway.send(wrong).await;
        let (status, body) = (answer.status, answer.json().await);
        assert_eq!((status, &body["error"]["code"]), (400, &json!(-32020)), "{body}");
    }
    assert_eq!(*gateway.api.ended.borrow(), 0, "each principal keeps one surface");
}

#[tokio::test]
async fn an_unknown_server_is_refused_alike_on_every_route() {
    let gateway = Gateway::start().await;
    for (method, path) in [
        ("POST", "/servers/other/mcp"),
        ("GET", "/servers/other/mcp"),
        ("DELETE", "/servers/other/mcp"),
        ("GET", "/servers/other/sse"),
        ("POST", "/servers/other/message?session_id=0123"),
        ("POST", "/servers/%00/mcp"),
    ] {
        let ask = Ask::new(method, path).token("ann");
        let ask = match method {
            "POST" => ask.json(&initialize("2025-11-25")),
            _ => ask,
        };
        let answer = gateway.send(ask).await;
        let found = (answer.status, answer.json().await);
        assert_eq!(
            found,
            (404, json!({"detail": "Server not found"})),
            "{method} {path}"
        );
    }
}

#[tokio::test]
async fn deleting_a_server_ends_its_sessions() {
    let gateway = Gateway::start().await;
    let session = open(&gateway, "ann").await;
    gateway.api.delete_server();
    let answer = post(&gateway, "ann", &session, &execute(1, "return x")).await;
    let found = (answer.status, answer.json().await);
    assert_eq!(found, (404, json!({"detail": "Server not found"})));
    gateway.api.surfaces_ended(1).await;
}

#[tokio::test]
async fn changing_a_server_ends_its_sessions_and_serves_new_ones() {
    let gateway = Gateway::start().await;
    let session = open(&gateway, "ann").await;
    gateway.api.change_server();
    check_unknown(post(&gateway, "ann", &session, &execute(1, "return x")).await).await;
    gateway.api.surfaces_ended(1).await;
    let session = open(&gateway, "ann").await;
    check_runs(&gateway, "ann", &session).await;
}

#[tokio::test]
async fn many_virtual_servers_in_turn_end_unused_endpoints() {
    let gateway = Gateway::start().await;
    let servers: Vec<String> = (0..70).map(|number| format!("many{number}")).collect();
    for server in &servers {
        gateway.api.add_server(server);
        let ask = Ask::new("POST", format!("/servers/{server}/mcp")).token("ann");
        let answer = gateway.send(ask.json(&initialize("2025-11-25"))).await;
        assert_eq!(answer.status, 200, "{server}");
    }
    gateway.api.surfaces_ended(6).await;
    assert_eq!(*gateway.api.ended.borrow(), 6);
}
