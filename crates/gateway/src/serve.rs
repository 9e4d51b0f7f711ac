//! Serves one connection from its first byte to its last.

use std::sync::Arc;

use policy::Policy;
use rmcp::service::{RunningService, ServerInitializeError};
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use tokio_util::sync::CancellationToken;
use types::Answers;

use crate::bridge::{BridgeHandler, BridgeService, Output, Timeouts};
use crate::code::{CodeHandler, CodeService};
use crate::receipt::Receipts;
use crate::standard::{Downstream, StandardHandler, StandardService, forward};
use crate::stdio::{Pipes, Signals, StdioTransport};

/// One client.
#[derive(Debug)]
pub struct Connection {
    /// Its bytes.
    pub pipes: Pipes,
    /// What the connection announces.
    pub signals: Signals,
    /// Ends the connection when triggered.
    pub shutdown: CancellationToken,
}

/// Serves the `code` surface until the client closes its side or `shutdown` is triggered; `policy` decides what it may
/// ask for, `answers` and `receipts` how results are written where it does not ask, `varies` whether it sees
/// names of servers, or tools of theirs beside the two. When it returns, every run of the connection has ended and what it
/// still had to say has been said.
pub async fn serve_code<S: CodeService>(
    service: S,
    policy: Arc<Policy>,
    answers: Answers,
    receipts: Receipts,
    varies: bool,
    connection: Connection,
) {
    let closed = connection.signals.closed.clone();
    let handler = CodeHandler::new(service, policy, answers, receipts, varies, closed);
    let tools = handler.watch_tools();
    tokio::select! {
        () = serve(handler, connection) => {}
        () = tools => {}
    }
}

/// The same with the `bridge` surface: its form of answers, and the bytes that are shown of what a program printed.
pub async fn serve_bridge<S: BridgeService>(
    service: S,
    timeouts: Timeouts,
    (output, printed): (Output, u64),
    receipts: Receipts,
    connection: Connection,
) {
    let closed = connection.signals.closed.clone();
    let handler = BridgeHandler::new(service, timeouts, (output, printed), receipts, closed);
    serve(handler, connection).await;
}

/// The same with the `standard` surface.
pub async fn serve_standard<S: StandardService>(service: S, connection: Connection) {
    let (client, notices) = Downstream::new();
    let handler = StandardHandler::new(service, client.clone(), connection.signals.closed.clone());
    let tools = handler.watch_tools();
    let beside = async { tokio::join!(forward(client, notices), tools) };
    tokio::select! {
        () = serve_by(handler, connection, StdioTransport::relaying) => {}
        _ = beside => {}
    }
}

async fn serve<H: ServerHandler>(handler: H, connection: Connection) {
    serve_by(handler, connection, StdioTransport::new).await;
}

async fn serve_by<H: ServerHandler>(
    handler: H,
    connection: Connection,
    transport: impl FnOnce(Pipes, Signals) -> StdioTransport,
) {
    let Connection {
        pipes,
        signals,
        shutdown,
    } = connection;
    let transport = transport(pipes, signals.clone());
    match handler.serve_with_ct(transport, shutdown).await {
        Ok(running) => wait(running).await,
        // Whoever closes before the handshake, or is told to, has nothing under way.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {}
        Err(error) => tracing::warn!(%error, "the connection ended before its handshake was complete"),
    }
    signals.closed.cancel();
}

async fn wait<H: ServerHandler>(running: RunningService<RoleServer, H>) {
    match running.waiting().await {
        Ok(reason) => tracing::debug!(?reason, "the connection has ended"),
        Err(error) => tracing::error!(%error, "the connection's task failed"),
    }
}
