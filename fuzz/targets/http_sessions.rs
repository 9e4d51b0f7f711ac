//! The headers that name a session and an event: only ids that Codeyard issued lead to a stream.
//!
//! Input: the value of `Mcp-Session-Id`, a line feed, the value of `Last-Event-ID`. A leading `$`
//! in the first value stands for the id of an open session whose only event is `1-0`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../http.rs"]
mod http;
#[path = "../surface.rs"]
mod surface;

fuzz_target!(|data: &[u8]| {
    let mut parts = data.splitn(2, |byte| *byte == b'\n');
    let (Some(session), Some(event)) = (parts.next(), parts.next()) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(check(session, event));
});

async fn check(session: &[u8], event: &[u8]) {
    let host = http::Host::new();
    let own = host.open().await;
    let session = match session.strip_prefix(b"$") {
        Some(rest) => [own.as_bytes(), &plain(rest)].concat(),
        None => plain(session),
    };
    let event = plain(event);
    let head: &[u8] = b" /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nmcp-session-id: ";
    let resume = [b"GET", head, &session, b"\r\nlast-event-id: ", &event, b"\r\n\r\n"].concat();
    let is_own = trimmed(&session) == own.as_bytes();
    let is_event = trimmed(&event) == b"1-0";
    match http::status(&host.exchange(&resume).await) {
        // The connection may close before the response is sent.
        None => {}
        Some(200) => assert!(is_own && is_event, "resumed"),
        Some(404) => assert!(!is_own),
        Some(400) => assert!(!is_event || !is_own),
        Some(status) => panic!("{status}"),
    }
    let end = [b"DELETE", head, &session, b"\r\n\r\n"].concat();
    match http::status(&host.exchange(&end).await) {
        None => {}
        Some(200) => assert!(is_own, "ended"),
        Some(400 | 404) => assert!(!is_own),
        Some(status) => panic!("{status}"),
    }
    host.check().await;
    host.close().await;
}

/// A value without line ends.
fn plain(value: &[u8]) -> Vec<u8> {
    let kept = |byte: &u8| !matches!(byte, b'\r' | b'\n');
    value.iter().copied().filter(kept).collect()
}

/// A value without surrounding blanks.
fn trimmed(value: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let begin = value.iter().position(|byte| !is_blank(byte)).unwrap_or(value.len());
    let end = value.iter().rposition(|byte| !is_blank(byte)).map_or(begin, |last| last + 1);
    &value[begin..end]
}
