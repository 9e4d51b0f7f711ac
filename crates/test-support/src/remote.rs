//! A remote MCP server for tests: HTTP in front of the stub's process, in each era and on purpose in every wrong way.

mod hostile;
mod http;
pub mod oauth;
mod relay;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use crate::servers::Era;
use relay::Relay;

/// How a remote server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Streamable HTTP, 2026-07-28.
    Modern,
    /// Streamable HTTP, 2025-11-25: sessions, and a stream for what the server says unasked.
    Legacy,
    /// HTTP with SSE, 2024-11-05.
    Sse,
}

impl Way {
    fn era(self) -> Era {
        match self {
            Way::Modern => Era::Modern,
            Way::Legacy => Era::Legacy,
            Way::Sse => Era::Old,
        }
    }
}

/// A request that a server has received.
#[derive(Debug, Clone)]
pub struct Seen {
    /// `POST`, `GET` or `DELETE`.
    pub method: String,
    /// Its path with the query.
    pub path: String,
    /// Its headers, by their names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its message; `null` without one.
    pub message: Value,
}

impl Seen {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// A server on a port of its own; it ends when this is dropped.
#[derive(Debug)]
pub struct RemoteServer {
    port: u16,
    state: Arc<State>,
    task: AbortHandle,
}

/// What all connections share.
#[derive(Debug)]
struct State {
    relay: Relay,
    seen: Mutex<Vec<Seen>>,
    token: Mutex<Option<String>>,
    is_down: AtomicBool,
}

impl State {
    fn remember(&self, request: &Seen) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push(request.clone());
    }

    fn token(&self) -> Option<String> {
        let token = self.token.lock();
        token.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl RemoteServer {
    /// Serves the stub with its extra tools.
    pub async fn start(way: Way) -> Result<RemoteServer> {
        RemoteServer::start_at(way, 0).await
    }

    /// The same at a port that may have been another server's.
    pub async fn start_at(way: Way, port: u16) -> Result<RemoteServer> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(State {
            relay: Relay::new(way),
            seen: Mutex::default(),
            token: Mutex::default(),
            is_down: AtomicBool::new(false),
        });
        let serving = Arc::clone(&state);
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(http::serve(stream, Arc::clone(&serving)));
                while connections.try_join_next().is_some() {}
            }
        });
        let task = task.abort_handle();
        Ok(RemoteServer { port, state, task })
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// All requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        let seen = self.state.seen.lock();
        seen.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Requests with that method of the protocol.
    pub fn seen_of(&self, method: &str) -> Vec<Seen> {
        let mut seen = self.seen();
        seen.retain(|seen| seen.message["method"] == method);
        seen
    }

    /// From now on only this token is let in.
    pub fn require_token(&self, token: &str) {
        let mut required = self.state.token.lock().unwrap_or_else(PoisonError::into_inner);
        *required = Some(token.to_owned());
    }

    /// Answers everything with HTTP 503, or no longer.
    pub fn set_down(&self, is_down: bool) {
        self.state.is_down.store(is_down, Ordering::SeqCst);
    }

    /// Forgets all sessions.
    pub fn forget_sessions(&self) {
        self.state.relay.forget();
    }

    /// How many sessions there are.
    pub fn sessions(&self) -> usize {
        self.state.relay.sessions()
    }
}

impl Drop for RemoteServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}
