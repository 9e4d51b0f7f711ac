//! Input of a client over stdin: each line gets at most one well-formed answer, and the connection survives.
//!
//! Input: a byte of flags, then the client's raw bytes. With the flag `OPENED`, the handshake precedes them.

#![no_main]

use std::time::Duration;

use gateway::{Connection, ConnectionEvents, Pipes};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio_util::sync::CancellationToken;

#[path = "../surface.rs"]
mod surface;

const OPENED: u8 = 1;

/// Bytes that each direction buffers, so that no writer waits for a reader.
const ROOM: usize = 4 * 1024 * 1024;
/// Longest wait for the end of a connection, far above the connection's own time limit.
const PATIENCE: Duration = Duration::from_secs(8);
/// The id of the last request, which must be answered after any input.
const LAST: i64 = 8_000_000_000;

fuzz_target!(|data: &[u8]| {
    let Some((flags, said)) = data.split_first() else {
        return;
    };
    let opened = flags & OPENED != 0;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let answers = runtime.block_on(converse(opened, said));
    check(&answers, said, opened);
});

/// Sends everything, closes the connection and returns the answers.
async fn converse(opened: bool, said: &[u8]) -> Vec<u8> {
    let (mut to_server, reads) = tokio::io::duplex(ROOM);
    let (writes, from_server) = tokio::io::duplex(ROOM);
    let connection = Connection {
        pipes: Pipes::over(reads, writes),
        events: ConnectionEvents::default(),
        shutdown: CancellationToken::new(),
    };
    let serving = tokio::spawn(surface::serve(connection));
    let before = if opened { handshake() } else { String::new() };
    let last = json!({"jsonrpc": "2.0", "id": LAST, "method": "ping"});
    for bytes in [before.as_bytes(), said, b"\n", last.to_string().as_bytes(), b"\n"] {
        to_server.write_all(bytes).await.expect("the server reads");
    }
    let mut from_server = from_server;
    let answers = tokio::time::timeout(PATIENCE, until_last(&mut from_server)).await;
    let mut answers = answers.expect("the last request is answered whatever came before it");
    drop(to_server);
    tokio::time::timeout(PATIENCE, from_server.read_to_end(&mut answers))
        .await
        .expect("the end")
        .expect("bytes");
    tokio::time::timeout(PATIENCE, serving)
        .await
        .expect("the connection ends")
        .expect("no panic");
    answers
}

fn handshake() -> String {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "fuzz", "version": "1"}});
    let initialize = json!({"jsonrpc": "2.0", "id": -1, "method": "initialize", "params": params});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    format!("{initialize}\n{initialized}\n")
}

async fn until_last(from_server: &mut DuplexStream) -> Vec<u8> {
    let mut answers = Vec::new();
    let mark = format!("\"id\":{LAST}");
    while !String::from_utf8_lossy(&answers).contains(&mark) {
        if from_server.read_buf(&mut answers).await.expect("bytes") == 0 {
            break;
        }
    }
    answers
}

fn check(answers: &[u8], said: &[u8], opened: bool) {
    assert!(answers.ends_with(b"\n"), "the last line has its end");
    let lines: Vec<&[u8]> = answers.trim_ascii_end().split(|byte| *byte == b'\n').collect();
    let mut answered = 0;
    let mut last = 0;
    for line in &lines {
        let message: Value = serde_json::from_slice(line).expect("a line is one message");
        assert_eq!(message["jsonrpc"], "2.0");
        if message.get("method").is_some() {
            continue;
        }
        assert!(
            message.get("result").is_some() != message.get("error").is_some(),
            "{message}"
        );
        assert!(message.get("id").is_some(), "an answer without an id: {message}");
        answered += 1;
        last += usize::from(message["id"] == LAST);
    }
    let said = said
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .count();
    let asked = said + usize::from(opened) + 1;
    assert!(answered <= asked, "{answered} answers to {asked} lines");
    assert!(last >= 1, "the last request was not answered");
}
