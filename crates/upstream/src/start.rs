//! Starts a server and makes its connection.

use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::service::RunningService;
use tokio::sync::watch;
use upstream_wire::{
    ClientService, ConnectError, ConnectedServer, ServerHandle, ServerHello, ToolDefinitions,
};

use crate::connection::Connection;
use crate::error::UpstreamError;
use crate::shared::ServerShared;

/// A server that has completed the handshake.
pub(crate) struct StartedServer {
    pub(crate) handle: ServerHandle,
    pub(crate) service: RunningService<RoleClient, ClientService>,
    pub(crate) connection: Arc<Connection>,
    pub(crate) hello: ServerHello,
}

/// Starts the server and completes the handshake. Dropping the future kills what was started.
pub(crate) async fn start(shared: &Arc<ServerShared>) -> Result<StartedServer, UpstreamError> {
    let server = &shared.config.name;
    let tools: Arc<dyn ToolDefinitions> = Arc::clone(shared) as _;
    let connected = shared.connector.connect(shared.era(), tools).await;
    let ConnectedServer {
        handle,
        service,
        notifications,
        hello,
    } = connected.map_err(|ConnectError { cause, stderr }| UpstreamError::Start {
        server: server.clone(),
        cause,
        stderr,
    })?;
    let connection = Arc::new(Connection {
        server: server.clone(),
        peer: service.peer().clone(),
        notifications,
        stderr: handle.stderr(),
        pid: handle.pid(),
        era: hello.era,
        is_remote: handle.is_remote(),
        capabilities: hello.info.capabilities.clone(),
        end: watch::channel(None).0,
        has_served: false.into(),
    });
    Ok(StartedServer {
        handle,
        service,
        connection,
        hello,
    })
}
