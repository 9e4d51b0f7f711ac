//! A remote MCP server for tests: HTTP in front of the stub's process, in each era, correct or
//! broken on request.

mod connection;
mod hostile;
pub(crate) mod http;
pub mod oauth;
mod protocol;
mod relay;
pub(crate) mod tls;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use connection::State;
use http::Stream;
pub use protocol::{Seen, Way};
use relay::Relay;
pub use tls::{Certificate, CertificateFiles};

/// A server on its own port; dropping it ends it.
#[derive(Debug)]
pub struct RemoteServer {
    port: u16,
    /// The PEM certificate of its authority, if the server uses TLS.
    authority: Option<String>,
    state: Arc<State>,
    task: AbortHandle,
}

impl RemoteServer {
    /// Serves the stub with its extra tools.
    pub async fn start(way: Way) -> Result<RemoteServer> {
        RemoteServer::start_at(way, 0).await
    }

    /// Starts the server on a port that another server may have used before.
    pub async fn start_at(way: Way, port: u16) -> Result<RemoteServer> {
        RemoteServer::serve(way, port, None).await
    }

    /// Starts the server with TLS.
    pub async fn start_secure(way: Way, certificate: Certificate) -> Result<RemoteServer> {
        RemoteServer::serve(way, 0, Some(certificate)).await
    }

    async fn serve(way: Way, port: u16, certificate: Option<Certificate>) -> Result<RemoteServer> {
        let tls = certificate.map(tls::acceptor).transpose()?;
        let (acceptor, authority) = tls.unzip();
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(State {
            relay: Relay::new(way),
            seen: Mutex::default(),
            token: Mutex::default(),
            is_down: AtomicBool::new(false),
            busy: Mutex::default(),
            connections: AtomicUsize::new(0),
            refusals: Mutex::default(),
        });
        let serving = Arc::clone(&state);
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                serving.connections.fetch_add(1, Ordering::SeqCst);
                let (acceptor, state) = (acceptor.clone(), Arc::clone(&serving));
                connections.spawn(async move {
                    let stream: Box<dyn Stream> = match acceptor {
                        None => Box::new(stream),
                        Some(acceptor) => match acceptor.accept(stream).await {
                            Ok(stream) => Box::new(stream),
                            // The client rejects our certificate; a test may intend this.
                            Err(_) => return,
                        },
                    };
                    connection::serve(stream, state).await;
                });
                while connections.try_join_next().is_some() {}
            }
        });
        let task = task.abort_handle();
        Ok(RemoteServer {
            port,
            authority,
            state,
            task,
        })
    }

    /// Its address.
    pub fn url(&self) -> String {
        match self.authority {
            Some(_) => format!("https://localhost:{}/mcp", self.port),
            None => format!("http://127.0.0.1:{}/mcp", self.port),
        }
    }

    /// The PEM certificate of its authority; empty without TLS.
    pub fn authority(&self) -> &str {
        self.authority.as_deref().unwrap_or_default()
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

    /// Requests of this protocol method.
    pub fn seen_of(&self, method: &str) -> Vec<Seen> {
        let mut seen = self.seen();
        seen.retain(|seen| seen.message["method"] == method);
        seen
    }

    /// Accepts only this token from now on.
    pub fn require_token(&self, token: &str) {
        let mut required = self.state.token.lock().unwrap_or_else(PoisonError::into_inner);
        *required = Some(token.to_owned());
    }

    /// Answers everything with HTTP 503 while `is_down`.
    pub fn set_down(&self, is_down: bool) {
        self.state.is_down.store(is_down, Ordering::SeqCst);
    }

    /// Answers the next `calls` tool calls with HTTP 429 and this `Retry-After`.
    pub fn set_busy(&self, calls: usize, retry_after: &str) {
        let mut busy = self.state.busy.lock().unwrap_or_else(PoisonError::into_inner);
        *busy = (calls, retry_after.to_owned());
    }

    /// Connections accepted so far.
    pub fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    /// Refuses the next `times` requests for an event stream with this status.
    pub fn refuse_listeners(&self, status: &str, times: usize) {
        let mut refusals = self.state.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        *refusals = (status.to_owned(), times);
    }

    /// Deletes all sessions.
    pub fn forget_sessions(&self) {
        self.state.relay.forget();
    }

    /// The number of sessions.
    pub fn sessions(&self) -> usize {
        self.state.relay.sessions()
    }
}

impl Drop for RemoteServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}
