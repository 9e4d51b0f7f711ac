//! Serves one connection from its first byte to its last.

use std::sync::Arc;

use policy::Policy;
use rmcp::service::{RunningService, ServerInitializeError};
use rmcp::{RoleServer, ServiceExt};
use tokio_util::sync::CancellationToken;

use crate::code::{CodeHandler, CodeService};
use crate::stdio::{Pipes, Signals, StdioTransport};

/// One client and what stands behind it.
#[derive(Debug)]
pub struct Connection<S> {
    /// Runs programs and finds tools.
    pub service: S,
    /// Decides what the client may ask for.
    pub policy: Arc<Policy>,
    /// The client's bytes.
    pub pipes: Pipes,
    /// What the connection announces.
    pub signals: Signals,
    /// Ends the connection when triggered.
    pub shutdown: CancellationToken,
}

/// Serves the `code` surface until the client closes its side or `shutdown` is triggered. When it returns, every
/// run of the connection has ended and what it still had to say has been said.
pub async fn serve_code<S: CodeService>(connection: Connection<S>) {
    let Connection {
        service,
        policy,
        pipes,
        signals,
        shutdown,
    } = connection;
    let handler = CodeHandler::new(service, policy, signals.closed.clone());
    let transport = StdioTransport::new(pipes, signals.clone());
    match handler.serve_with_ct(transport, shutdown).await {
        Ok(running) => wait(running).await,
        // Whoever closes before the handshake, or is told to, has nothing under way.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {}
        Err(error) => tracing::warn!(%error, "the connection ended before its handshake was complete"),
    }
    signals.closed.cancel();
}

async fn wait<S: CodeService>(running: RunningService<RoleServer, CodeHandler<S>>) {
    match running.waiting().await {
        Ok(reason) => tracing::debug!(?reason, "the connection has ended"),
        Err(error) => tracing::error!(%error, "the connection's task failed"),
    }
}
