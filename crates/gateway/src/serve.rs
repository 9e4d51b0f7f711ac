//! Serves one connection from its first byte to its last.

use rmcp::service::{RunningService, ServerInitializeError};
use rmcp::{RoleServer, ServiceExt};
use tokio_util::sync::CancellationToken;

use crate::code::{CodeHandler, CodeService};
use crate::stdio::{Pipes, Signals, StdioTransport};

/// Serves the `code` surface until the client closes its side or `shutdown` is triggered. When it returns, every
/// run of the connection has ended and what it still had to say has been said.
pub async fn serve_code<S: CodeService>(
    service: S,
    pipes: Pipes,
    signals: Signals,
    shutdown: CancellationToken,
) {
    let handler = CodeHandler::new(service, signals.closed.clone());
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
