//! Serves one connection from the handshake until the last message is written.

use rmcp::service::{RunningService, ServerInitializeError};
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use surfaces::Surface;
use tokio_util::sync::CancellationToken;

use crate::admission::ConnectionEvents;
use crate::pipes::Pipes;
use crate::transport::PipesTransport;

/// One client.
#[derive(Debug)]
pub struct Connection {
    /// The client's lines, and the messages to it.
    pub pipes: Pipes,
    /// What other parts learn about the connection.
    pub events: ConnectionEvents,
    /// Ends the connection when triggered.
    pub shutdown: CancellationToken,
}

/// Serves a surface until the client closes its side or `shutdown` is triggered. On return, every
/// run of the connection has ended and its last messages are written.
pub async fn serve<H: ServerHandler>(surface: Surface<H>, connection: Connection) {
    let Surface {
        handler,
        wire,
        background,
    } = surface;
    let Connection {
        pipes,
        events,
        shutdown,
    } = connection;
    let serving = async {
        let transport = PipesTransport::new(pipes, wire, events.clone());
        match handler.serve_with_ct(transport, shutdown).await {
            Ok(running) => wait(running).await,
            // No run starts before the handshake.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {}
            Err(error) => tracing::warn!(%error, "the connection ended before its handshake was complete"),
        }
        events.closed.cancel();
    };
    tokio::select! {
        () = serving => {}
        () = background => {}
    }
}

async fn wait<H: ServerHandler>(running: RunningService<RoleServer, H>) {
    match running.waiting().await {
        Ok(reason) => tracing::debug!(?reason, "the connection has ended"),
        Err(error) => tracing::error!(%error, "the connection's task failed"),
    }
}
