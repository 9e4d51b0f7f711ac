//! A client resumes a lost stream and receives the missed events.

use std::time::Instant;

use futures_util::future::join_all;
use serde_json::{Value, json};
use test_support::{Codeyard, ServerDefinition};

use super::served::{PATIENCE, Served, Stream, call, initialize, modern};

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

/// Tries to resume a stream that cannot be resumed.
async fn check_refused(served: &Served, session: &str, last: &str, status: u16, why: &str) {
    let answer = resume(served, session, last).await.whole().await;
    assert_eq!(answer.status, status, "{last}: {}", answer.text());
    assert!(answer.text().contains(why), "{last}: {}", answer.text());
}

#[tokio::test]
async fn a_call_outlives_its_connection_and_its_answer_comes_on_another() {
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
        // The answer can be requested again, but only from the client's last event.
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
    check_refused(&served, &session, &begin, 404, "the session is unknown").await;
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
async fn missed_messages_arrive_when_the_listener_returns() {
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
async fn a_resume_from_a_dropped_event_fails() {
    let codeyard = Codeyard::new().unwrap();
    let codeyard = codeyard.server("stub", &ServerDefinition::stub_with_extras());
    let served = Served::start(codeyard, &["--surface", "standard"]).await;
    let session = served.open().await;
    let own = [("mcp-session-id", session.as_str()), NEWEST];
    let name = served.tool(&session, "progress").await;
    let progress = |id: i64, times: u64| {
        let arguments = json!({"times": times, "every": 1});
        let params = json!({"name": name, "arguments": arguments, "_meta": {"progressToken": id}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let first = served.post(&own, &progress(100, 5)).await.sse_events();
    let begin = first[0].id.as_deref().unwrap();
    let again = resume(&served, &session, begin).await.whole().await.sse_events();
    // A slow machine may drop progress, so their number is not fixed.
    assert!(first.len() > 2, "{first:?}");
    assert_eq!(again.len(), first.len() - 1, "{again:?}");
    // More events than the session stores.
    let messages: Vec<Value> = (0..20).map(|id| progress(id, 60)).collect();
    let answers = join_all(messages.iter().map(|message| served.post(&own, message))).await;
    assert!(answers.iter().all(|answer| answer.status == 200));
    check_refused(
        &served,
        &session,
        begin,
        410,
        "no longer kept; send the request again",
    )
    .await;
    let last = answers[0].sse_events().pop().unwrap();
    assert!(last.message()["error"].is_null(), "{last:?}");
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
    let calls: Vec<Value> = (1..=64).map(|id| slow(id, 600.0)).collect();
    let mut streams = join_all(calls.iter().map(|call| served.begin(&own, call))).await;
    for stream in &mut streams {
        stream.sse_event().await;
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
async fn streams_of_clients_without_sessions_are_bounded_together() {
    let served = Served::start(Codeyard::with_stub().unwrap(), &["--surface", "standard"]).await;
    let session = served.open().await;
    let params = json!({"notifications": {"toolsListChanged": true}});
    let listen = modern("subscriptions/listen", params, None);
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "subscriptions/listen"),
    ];
    let mut streams = Vec::new();
    for _ in 0..512 {
        let mut stream = served.begin(&headers, &listen).await;
        stream.event().await;
        streams.push(stream);
    }
    let refused = served.post(&headers, &listen).await;
    assert_eq!(refused.status, 429, "{}", refused.text());
    let text = "512 requests and streams are open already";
    assert!(refused.text().contains(text), "{}", refused.text());
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    assert_eq!(
        served.post(&[("mcp-session-id", &session)], &ping).await.status,
        200
    );
    drop(streams);
    // The host notices closed connections with a delay.
    let start = Instant::now();
    while served.begin(&headers, &listen).await.status().await != 200 {
        assert!(start.elapsed() < PATIENCE);
    }
}

#[tokio::test]
async fn a_refused_initialize_leaves_no_session() {
    let served = Served::start(Codeyard::new().unwrap(), &[]).await;
    let session = served.open().await;
    let mut wrong = initialize();
    wrong["params"] = json!({});
    // More than the limit of sessions: if they stayed, the least recently used session would end.
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
