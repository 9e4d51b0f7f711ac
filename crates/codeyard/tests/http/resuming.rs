//! A client that lost a stream comes back for what it missed.

use serde_json::{Value, json};
use test_support::{Codeyard, ServerDefinition};

use super::served::{Served, Stream, call, initialize};

const NEWEST: (&str, &str) = ("mcp-protocol-version", "2025-11-25");

/// A call that takes long enough for its answer to come as events.
fn slow(id: i64, result: &str) -> Value {
    let code = format!("import time\ntime.sleep(2)\nreturn '{result}'");
    call(id, &code, None)
}

async fn resume(served: &Served, session: &str, last: &str) -> Stream {
    let headers = [("mcp-session-id", session), ("last-event-id", last)];
    served.send("GET", &headers, b"").await
}

/// Resumes a stream that cannot be resumed.
async fn check_refused(served: &Served, session: &str, last: &str, status: u16, why: &str) {
    let answer = resume(served, session, last).await.whole().await;
    assert_eq!(answer.status, status, "{last}: {}", answer.text());
    assert!(answer.text().contains(why), "{last}: {}", answer.text());
}

#[tokio::test]
async fn a_call_goes_on_without_its_connection_and_its_answer_comes_on_another() {
    let served = Served::start(Codeyard::new().unwrap(), &[]).await;
    let session = served.open().await;
    let own = [("mcp-session-id", session.as_str()), NEWEST];
    let mut first = served.begin(&own, &slow(1, "first")).await;
    let begin = first.sse_event().await;
    assert_eq!(begin.data.as_deref(), Some(""), "{begin:?}");
    assert_eq!(begin.retry.as_deref(), Some("1000"), "{begin:?}");
    let begin = begin.id.unwrap();
    let mut second = served.begin(&own, &slow(2, "second")).await;
    let other = second.sse_event().await.id.unwrap();
    assert_ne!(begin, other);
    drop((first, second));
    for (last, id, result) in [(&other, 2, "second"), (&begin, 1, "first")] {
        let events = resume(&served, &session, last).await.whole().await.sse_events();
        let messages: Vec<Value> = events.iter().map(|event| event.message()).collect();
        assert_eq!(messages.last().unwrap()["id"], id, "{messages:?}");
        assert_eq!(
            messages.last().unwrap()["result"]["structuredContent"]["result"],
            result
        );
        assert_eq!(
            messages
                .iter()
                .filter(|message| !message["result"].is_null())
                .count(),
            1
        );
        // It can be asked for again, but only from where the client is.
        let last = events.last().unwrap().id.clone().unwrap();
        assert_eq!(
            resume(&served, &session, &last)
                .await
                .whole()
                .await
                .sse_events()
                .len(),
            0
        );
    }
    let events = resume(&served, &session, &begin).await.whole().await.sse_events();
    assert_eq!(events.last().unwrap().message()["id"], 1);
    check_refused(&served, &session, "7-0", 400, "is not an event of this session").await;
    check_refused(&served, &session, "bad", 400, "is not an event of this session").await;
    let stranger = served.open().await;
    check_refused(&served, &stranger, &begin, 400, "is not an event of this session").await;
    served.delete(&session).await;
    check_refused(&served, &session, &begin, 404, "there is no such session").await;
}

#[tokio::test]
async fn older_revisions_get_ids_and_no_event_without_data() {
    let served = Served::start(Codeyard::new().unwrap(), &[]).await;
    let session = served.open().await;
    let own = [
        ("mcp-session-id", session.as_str()),
        ("mcp-protocol-version", "2025-06-18"),
    ];
    let events = served.post(&own, &slow(1, "done")).await.sse_events();
    assert!(events.iter().all(|event| event.id.is_some()), "{events:?}");
    assert_eq!(events.last().unwrap().message()["id"], 1);
    assert!(!events[0].message().is_null());
}

#[tokio::test]
async fn what_nobody_listened_to_comes_when_the_listener_is_back() {
    let served = Served::start(Codeyard::with_stub().unwrap(), &[]).await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let (gone, there) = (served.open().await, served.open().await);
    for session in [&gone, &there] {
        served.post(&[("mcp-session-id", session)], &list).await;
    }
    let mut listening = served.listen_as(&gone, NEWEST).await;
    let begin = listening.sse_event().await.id.unwrap();
    let mut witness = served.listen_as(&there, NEWEST).await;
    witness.sse_event().await;
    drop(listening);
    let servers = served.codeyard.directory().join("config/codeyard/mcp.json");
    std::fs::write(servers, r#"{"mcpServers": {}}"#).unwrap();
    let changed = "notifications/tools/list_changed";
    assert_eq!(witness.sse_event().await.message()["method"], changed);
    let mut again = resume(&served, &gone, &begin).await;
    assert_eq!(again.sse_event().await.message()["method"], changed);
}

#[tokio::test]
async fn a_resume_that_needs_too_old_an_event_fails() {
    let codeyard = Codeyard::new().unwrap();
    let codeyard = codeyard.server("stub", &ServerDefinition::stub_with_extras());
    let served = Served::start(codeyard, &["--surface", "standard"]).await;
    let session = served.open().await;
    let own = [("mcp-session-id", session.as_str()), NEWEST];
    let name = served.tool(&session, "progress").await;
    let params = json!({
        "name": name, "arguments": {"times": 1300, "every": 1}, "_meta": {"progressToken": "t"},
    });
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params});
    let events = served.post(&own, &call).await.sse_events();
    assert_eq!(events.last().unwrap().message()["id"], 3);
    assert!(events.len() > 600, "{}", events.len());
    let begin = events[0].id.as_deref().unwrap();
    check_refused(
        &served,
        &session,
        begin,
        410,
        "no longer kept; send the request again",
    )
    .await;
    let late = events[events.len() - 5].id.as_deref().unwrap();
    let rest = resume(&served, &session, late).await.whole().await.sse_events();
    assert_eq!(rest.len(), 4, "{rest:?}");
}

#[tokio::test]
async fn a_session_has_a_bounded_number_of_streams() {
    let codeyard = Codeyard::with_stub().unwrap();
    let served = Served::start(codeyard, &["--surface", "standard"]).await;
    let (busy, other) = (served.open().await, served.open().await);
    let name = served.tool(&busy, "slow").await;
    let slow = |id: i64, seconds: f64| {
        let params = json!({"name": name, "arguments": {"seconds": seconds}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let own = [("mcp-session-id", busy.as_str()), NEWEST];
    let mut streams = Vec::new();
    for id in 1..=64 {
        let mut stream = served.begin(&own, &slow(id, 600.0)).await;
        stream.sse_event().await;
        streams.push(stream);
    }
    let refused = served.post(&own, &slow(65, 0.0)).await;
    assert_eq!(refused.status, 429, "{}", refused.text());
    assert_eq!(refused.header("retry-after"), Some("1"));
    let text = "64 requests and streams are open already; wait for answers, or close some";
    assert_eq!(refused.json()["error"]["message"], text);
    assert_eq!(refused.json()["id"], 65);
    let listening = served.listen(&busy).await.whole().await;
    assert_eq!((listening.status, listening.text().contains(text)), (429, true));
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    assert_eq!(
        served.post(&[("mcp-session-id", &other)], &ping).await.status,
        200
    );
    assert_eq!(served.delete(&busy).await.status, 200);
}

#[tokio::test]
async fn a_refused_initialize_leaves_no_session() {
    let served = Served::start(Codeyard::new().unwrap(), &[]).await;
    let session = served.open().await;
    let mut wrong = initialize();
    wrong["params"] = json!({});
    // More than there may be sessions: if they stayed, the session that is unused for longest would have to end.
    for _ in 0..1100 {
        let refused = served.post(&[], &wrong).await;
        assert!(!refused.json()["error"].is_null(), "{}", refused.text());
        assert_eq!(refused.header("mcp-session-id"), None);
    }
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    assert_eq!(
        served.post(&[("mcp-session-id", &session)], &ping).await.status,
        200
    );
}
