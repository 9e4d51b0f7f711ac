//! Starts a server and connects to it.

use std::sync::Arc;

use tokio::sync::watch;
use upstream_wire::{ConnectError, ConnectedServer, ToolDefinitions};

use crate::connection::Connection;
use crate::error::UpstreamError;
use crate::shared::ServerShared;

/// Starts the server and completes the handshake. Dropping the future kills the started process.
pub(crate) async fn start(
    shared: &Arc<ServerShared>,
) -> Result<(ConnectedServer, Arc<Connection>), UpstreamError> {
    let server = &shared.config.name;
    let tools: Arc<dyn ToolDefinitions> = Arc::clone(shared) as _;
    let connected = shared.connector.connect(shared.era(), tools).await;
    let connected = connected.map_err(|ConnectError { cause, stderr }| UpstreamError::Start {
        server: server.clone(),
        cause,
        stderr,
    })?;
    let connection = Arc::new(Connection {
        server: server.clone(),
        peer: connected.service.peer().clone(),
        notifications: Arc::clone(&connected.notifications),
        stderr: connected.handle.stderr(),
        pid: connected.handle.pid(),
        era: connected.hello.era,
        is_remote: connected.handle.is_remote(),
        capabilities: connected.hello.info.capabilities.clone(),
        end: watch::channel(None).0,
        has_served: false.into(),
    });
    Ok((connected, connection))
}
