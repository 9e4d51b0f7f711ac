//! Refused clients, and answers to bad requests.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use test_support::Codeyard;

use super::served::{Served, call, initialize, modern};

const TOKEN: &str = "0123456789abcdef0123";

/// A codeyard with a file of this content and mode.
fn with_file(content: &str, mode: u32) -> (Codeyard, String) {
    let codeyard = Codeyard::new().unwrap();
    let file = codeyard.directory().join("token");
    std::fs::write(&file, content).unwrap();
    std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
    let file = file.to_str().unwrap().to_owned();
    (codeyard, file)
}

#[tokio::test]
async fn pages_of_other_sites_are_refused() {
    let served = Served::start(Codeyard::new().unwrap(), &[]).await;
    for (headers, status) in [
        (vec![("host", "evil.example.com")], 403),
        (vec![("host", "localhost.example.com:80")], 403),
        (vec![("origin", "http://evil.example.com")], 403),
        (vec![("origin", "null")], 403),
        (vec![("origin", "http://localhost:5173")], 200),
        (vec![("host", "localhost")], 200),
    ] {
        let answer = served.post(&headers, &initialize()).await;
        assert_eq!(answer.status, status, "{headers:?}: {}", answer.text());
    }
}

#[tokio::test]
async fn the_token_is_checked_before_the_body_is_read() {
    let (codeyard, file) = with_file(&format!("{TOKEN}\n"), 0o600);
    let served = Served::start(codeyard, &["--token-file", &file]).await;
    let right = format!("Bearer {TOKEN}");
    for (given, status) in [
        (None, 401),
        (Some("Bearer 0123456789abcdef0124"), 401),
        (Some("Basic 0123456789abcdef0123"), 401),
        (Some(right.as_str()), 200),
    ] {
        let headers: Vec<_> = given.map(|given| ("authorization", given)).into_iter().collect();
        let answer = served.post(&headers, &initialize()).await;
        assert_eq!(answer.status, status, "{given:?}");
        assert_eq!(
            answer.header("www-authenticate").is_some(),
            status == 401,
            "{given:?}"
        );
    }
    let huge = [
        ("content-length", "1073741824"),
        ("content-type", "application/json"),
    ];
    assert_eq!(served.send("POST", &huge, b"").await.whole().await.status, 401);
}

/// Starts codeyard with these options, which must be refused with this text.
async fn check_refused(codeyard: Codeyard, options: &[&str], expected: &str) {
    let ended = codeyard.run(["mcp"].iter().chain(options)).await.unwrap();
    let told = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2), "{told}");
    assert!(told.contains(expected), "{told}");
}

#[tokio::test]
async fn an_open_or_invalid_address_is_refused() {
    let new = || Codeyard::new().unwrap();
    check_refused(
        new(),
        &["--listen", "0.0.0.0:0"],
        "give --token-file FILE, or listen on 127.0.0.1",
    )
    .await;
    check_refused(
        new(),
        &["--listen", "nowhere"],
        "write IP:PORT, such as 127.0.0.1:8700, or a port",
    )
    .await;
    check_refused(new(), &["--token-file", "x"], "--listen <ADDR>").await;
    check_refused(
        new(),
        &["--listen", "0", "--token-file", "/nowhere"],
        "--token-file /nowhere: ",
    )
    .await;
    let (codeyard, file) = with_file(TOKEN, 0o644);
    check_refused(
        codeyard,
        &["--listen", "0", "--token-file", &file],
        "other users may read it",
    )
    .await;
    let (codeyard, file) = with_file("short", 0o600);
    check_refused(
        codeyard,
        &["--listen", "0", "--token-file", &file],
        "at least 16 characters",
    )
    .await;
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    check_refused(new(), &["--listen", &port], "choose another port").await;
}

#[tokio::test]
async fn a_bad_request_gets_a_precise_error() {
    let served = Served::start(Codeyard::new().unwrap(), &[]).await;
    let session = served.open().await;
    let json_type = ("content-type", "application/json");
    let own = ("mcp-session-id", session.as_str());
    let check = async |method: &str, headers: &[(&str, &str)], body: &[u8], status: u16, text: &str| {
        let answer = served.send(method, headers, body).await.whole().await;
        assert_eq!(answer.status, status, "{method} {headers:?}: {}", answer.text());
        assert!(
            answer.text().contains(text),
            "{method} {headers:?}: {}",
            answer.text()
        );
    };
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let list = list.as_bytes();
    check("POST", &[], list, 415, "`Content-Type` must be application/json").await;
    check(
        "POST",
        &[json_type, ("content-encoding", "gzip")],
        list,
        415,
        "`Content-Encoding`",
    )
    .await;
    check(
        "POST",
        &[json_type, ("content-length", "33554432")],
        b"",
        413,
        "16777216 bytes",
    )
    .await;
    check("POST", &[json_type], b"{bad", 400, "Parse error").await;
    check("POST", &[json_type], b"[]", 400, "batches are not supported").await;
    check("POST", &[json_type], list, 400, "`initialize` first").await;
    check(
        "POST",
        &[json_type, ("mcp-session-id", "x")],
        list,
        404,
        "the session is unknown",
    )
    .await;
    check(
        "POST",
        &[json_type, own, ("mcp-protocol-version", "1999-01-01")],
        list,
        400,
        "not a revision with sessions",
    )
    .await;
    check("GET", &[], b"", 405, "POST, GET and DELETE").await;
    check("PUT", &[], b"", 405, "POST, GET and DELETE").await;
    let twice = br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"progressToken":1},"_meta":{"progressToken":2}}}"#;
    check("POST", &[json_type, own], twice, 400, "`_meta` appears twice").await;
    let other = modern(
        "tools/call",
        json!({"name": "execute_code", "arguments": {}}),
        None,
    )
    .to_string();
    let named = [
        json_type,
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "other"),
    ];
    check("POST", &named, other.as_bytes(), 400, "Header mismatch: mcp-name").await;
    // The bad requests have affected no other client.
    assert_eq!(
        served.run(&session, "return 5").await["result"]["structuredContent"]["result"],
        5
    );
}

#[tokio::test]
async fn a_pending_id_is_refused_within_a_session() {
    let served = Served::start(Codeyard::new().unwrap(), &[]).await;
    let session = served.open().await;
    let own = [("mcp-session-id", session.as_str())];
    let mut first = served
        .begin(&own, &call(5, "import time\ntime.sleep(3)\nreturn 1", Some("t")))
        .await;
    assert_eq!(first.event().await["method"], "notifications/progress");
    let second = served.post(&own, &call(5, "return 2", None)).await;
    assert_eq!(second.status, 400);
    assert!(
        second.text().contains("a request with id 5 is under way already"),
        "{}",
        second.text()
    );
    let mut last = Value::Null;
    while last["result"].is_null() {
        last = first.event().await;
    }
    assert_eq!(last["result"]["structuredContent"]["result"], 1);
}
