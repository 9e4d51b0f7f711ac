//! Input of a client over HTTP: any bytes are answered with HTTP or not at all, and other clients are served.
//!
//! Input: the bytes of one connection, in which `$SESSION` stands for the id of an open session.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../http.rs"]
mod http;
#[path = "../surface.rs"]
mod surface;

const PLACEHOLDER: &str = "$SESSION";

fuzz_target!(|data: &[u8]| {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let host = http::Host::new();
        let session = host.open().await;
        let said = replaced(data, &session);
        let answer = host.exchange(&said).await;
        if !answer.is_empty() {
            let status = http::status(&answer).expect("a response");
            assert!((200..500).contains(&status) || status == 503, "{status}");
        }
        host.check().await;
        host.close().await;
    });
});

fn replaced(data: &[u8], session: &str) -> Vec<u8> {
    let mut said = Vec::new();
    let mut rest = data;
    while let Some(at) = rest.windows(PLACEHOLDER.len()).position(|part| part == PLACEHOLDER.as_bytes()) {
        said.extend_from_slice(&rest[..at]);
        said.extend_from_slice(session.as_bytes());
        rest = &rest[at + PLACEHOLDER.len()..];
    }
    said.extend_from_slice(rest);
    said
}
