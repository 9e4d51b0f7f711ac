//! A host that serves connections over HTTP, and its answers to a client.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use gateway::{Clients, Connection, ConnectionEvents, Connector, HttpService, Pipes};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

use crate::surface;

/// Bytes that each direction buffers, so that no writer waits for a reader.
const ROOM: usize = 4 * 1024 * 1024;
/// Scheduler turns that the host gets before its client closes its side.
const TURNS: usize = 200;
/// Longest wait for the end of a connection whose client has closed its side.
const PATIENCE: Duration = Duration::from_secs(8);

/// Serves clients on 127.0.0.1 without a token.
pub struct Host(HttpService);

struct Surfaces;

impl Connector for Surfaces {
    fn connect(
        &self,
        pipes: Pipes,
        _: Clients,
        shutdown: CancellationToken,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        let events = ConnectionEvents::default();
        Box::pin(surface::serve(Connection { pipes, events, shutdown }))
    }
}

impl Host {
    pub fn new() -> Host {
        let address = "127.0.0.1:1".parse().expect("an address");
        Host(HttpService::new(address, None, Surfaces))
    }

    /// Sends this on a connection, closes the client's side, and returns all answers.
    pub async fn exchange(&self, said: &[u8]) -> Vec<u8> {
        let (client, server) = tokio::io::duplex(ROOM);
        self.0.serve(server);
        let (mut reads, mut writes) = tokio::io::split(client);
        // A host that has refused the connection reads no more.
        let _ = writes.write_all(said).await;
        // A closed client receives no later answers, so let the host run first; counted turns do
        // not depend on the machine.
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
        }
        let _ = writes.shutdown().await;
        let mut answer = Vec::new();
        let read = tokio::time::timeout(PATIENCE, reads.read_to_end(&mut answer)).await;
        let _ = read.expect("a connection ends when its client has closed its side");
        answer
    }

    /// Sends this, and reads until this text arrives.
    async fn until(&self, said: &[u8], text: &str) -> String {
        let (mut client, server) = tokio::io::duplex(ROOM);
        self.0.serve(server);
        client.write_all(said).await.expect("the host reads");
        let mut answer = Vec::new();
        let reading = async {
            while !String::from_utf8_lossy(&answer).contains(text) {
                assert_ne!(client.read_buf(&mut answer).await.expect("bytes"), 0, "the connection has ended");
            }
        };
        tokio::time::timeout(PATIENCE, reading).await.expect("an answer");
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Opens a session in which one stream has begun; returns its id.
    pub async fn open(&self) -> String {
        let answer = self.until(&initialize(), "}}").await;
        let id = answer
            .lines()
            .find_map(|line| line.strip_prefix("mcp-session-id: "))
            .expect("a session")
            .to_owned();
        let listen = format!(
            "GET /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nmcp-protocol-version: 2025-11-25\r\nmcp-session-id: {id}\r\n\r\n"
        );
        self.until(listen.as_bytes(), "id: 1-0").await;
        id
    }

    /// Checks that the host still serves: another client can open a session.
    pub async fn check(&self) {
        self.open().await;
    }

    pub async fn close(self) {
        self.0.close().await;
    }
}

fn initialize() -> Vec<u8> {
    let client = json!({"name": "fuzz", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string();
    let length = body.len();
    format!(
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// The status of the response at the beginning of these bytes.
pub fn status(answer: &[u8]) -> Option<u16> {
    let status = answer.strip_prefix(b"HTTP/1.1 ").or_else(|| answer.strip_prefix(b"HTTP/1.0 "))?;
    std::str::from_utf8(status.get(..3)?).ok()?.parse().ok()
}
