//! `codeyard mcp --listen`: clients over HTTP in both eras, admission, and answers to bad requests.

mod beside_stdio;
mod cutting_proxy;
mod floods;
mod installed;
mod nginx;
mod refusals;
mod resuming;
mod sdks;
#[path = "http/served.rs"]
pub(crate) mod served;

use std::time::Instant;

use serde_json::json;
use test_support::{Codeyard, wait_until};

use served::{PATIENCE, Served, call, initialize, modern};

#[tokio::test]
async fn clients_with_sessions_have_separate_variables() {
    let served = Served::start(Codeyard::new().unwrap(), &[]).await;
    let (first, second) = (served.open().await, served.open().await);
    assert_ne!(first, second);
    let texts = [
        served.run(&first, "x = 20\nreturn x + 1").await,
        served.run(&second, "return 'x' in globals()").await,
        served.run(&first, "return x").await,
    ];
    let results = texts.map(|answer| answer["result"]["structuredContent"]["result"].clone());
    assert_eq!(results, [json!(21), json!(false), json!(20)]);
    let listening = served.listen(&first).await;
    assert_eq!(served.delete(&first).await.status, 200);
    assert_eq!(
        listening.whole().await.status,
        200,
        "the stream of a session ends with it"
    );
    let gone = served
        .post(&[("mcp-session-id", &first)], &call(1, "return 1", None))
        .await;
    assert_eq!(gone.status, 404);
    assert_eq!(
        gone.json()["error"]["message"],
        "the session is unknown or has ended; `initialize` opens one"
    );
    assert_eq!(served.delete(&first).await.status, 404);
}

#[tokio::test]
async fn clients_without_sessions_may_choose_the_same_ids_and_tokens() {
    let served = Served::start(Codeyard::new().unwrap(), &[]).await;
    let ask = async |name: &str| {
        let code = format!("import time\ntime.sleep(1.5)\nreturn '{name}'");
        let arguments = json!({"code": code, "session": name});
        let call = modern(
            "tools/call",
            json!({"name": "execute_code", "arguments": arguments}),
            Some("same"),
        );
        served.post(&modern_headers("execute_code"), &call).await.events()
    };
    let (a, b) = tokio::join!(ask("a"), ask("b"));
    for (name, events) in [("a", a), ("b", b)] {
        let (answer, progress) = events.split_last().unwrap();
        assert_eq!(answer["id"], 7);
        assert_eq!(answer["result"]["structuredContent"]["result"], name);
        assert!(!progress.is_empty(), "{events:?}");
        for message in progress {
            assert_eq!(message["params"]["progressToken"], "same", "{message}");
        }
    }
}

#[tokio::test]
async fn a_run_ends_when_a_client_without_a_session_leaves() {
    let served = Served::start(Codeyard::new().unwrap(), &[]).await;
    let arguments = json!({"code": "import time\ntime.sleep(600)"});
    let call = modern(
        "tools/call",
        json!({"name": "execute_code", "arguments": arguments}),
        None,
    );
    let stream = served.begin(&modern_headers("execute_code"), &call).await;
    wait_for_run(&served.codeyard, "running").await;
    drop(stream);
    wait_for_run(&served.codeyard, "cancelled").await;
}

/// Waits until the only run is recorded with this status.
async fn wait_for_run(codeyard: &Codeyard, status: &str) {
    let listed = async || {
        let listed = codeyard.run(["runs", "--json"]).await.unwrap();
        String::from_utf8(listed.stdout).unwrap()
    };
    let start = Instant::now();
    let expected = format!("\"status\":\"{status}\"");
    while !listed().await.contains(&expected) {
        assert!(start.elapsed() < PATIENCE, "{}", listed().await);
    }
}

#[tokio::test]
async fn messages_without_a_request_go_to_the_listening_stream() {
    let served = Served::start(Codeyard::with_stub().unwrap(), &[]).await;
    let session = served.open().await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    served.post(&[("mcp-session-id", &session)], &list).await;
    let mut listening = served.listen(&session).await;
    let servers = served.codeyard.directory().join("config/codeyard/mcp.json");
    std::fs::write(servers, r#"{"mcpServers": {}}"#).unwrap();
    assert_eq!(
        listening.event().await["method"],
        "notifications/tools/list_changed"
    );
}

#[tokio::test]
async fn the_surface_standard_relays_over_http() {
    let served = Served::start(Codeyard::with_stub().unwrap(), &["--surface", "standard"]).await;
    let session = served.open().await;
    let headers = [("mcp-session-id", session.as_str())];
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let tools = served.post(&headers, &list).await.json();
    let names: Vec<&str> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert!(names.iter().any(|name| name.ends_with("echo")), "{names:?}");
}

#[tokio::test]
async fn all_connections_end_on_a_signal() {
    let mut served = Served::start(Codeyard::new().unwrap(), &[]).await;
    let session = served.open().await;
    served.run(&session, "return 1").await;
    let pid = served.pid();
    served.terminate();
    wait_until("the end", || test_support::is_gone(pid).then_some(())).await;
}

fn modern_headers(name: &str) -> [(&str, &str); 3] {
    [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", name),
    ]
}

#[tokio::test]
async fn a_session_begins_with_initialize() {
    let served = Served::start(Codeyard::new().unwrap(), &[]).await;
    let answer = served.post(&[], &initialize()).await;
    assert_eq!(answer.status, 200);
    let id = answer.header("mcp-session-id").unwrap();
    assert!(
        id.len() == 32 && id.chars().all(|c| c.is_ascii_hexdigit()),
        "{id}"
    );
    assert_eq!(answer.json()["result"]["serverInfo"]["name"], "codeyard");
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(
        served.post(&[("mcp-session-id", id)], &initialized).await.status,
        202
    );
}
