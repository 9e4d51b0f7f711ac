//! Connects to one server: starts its process or opens its HTTP connection, and completes the handshake.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientCapabilities, ClientConfig};
use rmcp::service::{RunningService, serve_directly};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};

use crate::client;
use crate::client_service::ClientService;
use crate::connector::{Connector, ToolDefinitions};
use crate::era::Era;
use crate::error::{StartError, StderrTail};
use crate::handle::ServerHandle;
use crate::handshake::{HandshakeError, HandshakeOrder, ServerHello, client_info, shake_hands};
use crate::notifications::Notifications;
use crate::secrets::Secrets;
use crate::transport::ServerTransport;

/// Longest time for both handshakes together; on the first start, package runners download.
pub const START_TIMEOUT: Duration = Duration::from_secs(60);
/// Longest wait for the exit status and the last lines of a server that has closed its pipes.
const EXIT_WAIT: Duration = Duration::from_secs(1);

/// A server that has completed the handshake.
pub struct ConnectedServer {
    /// A process or an HTTP connection.
    pub handle: ServerHandle,
    /// The MCP library's side of the connection.
    pub service: RunningService<RoleClient, ClientService>,
    /// What the server sends unasked.
    pub notifications: Arc<Notifications>,
    /// The server's answer to the handshake.
    pub hello: ServerHello,
}

/// A start that failed.
#[derive(Debug)]
pub struct ConnectError {
    /// Why, without secrets.
    pub cause: StartError,
    /// The end of the process's standard error.
    pub stderr: StderrTail,
}

struct AttemptError {
    error: ConnectError,
    may_try_other_handshake: bool,
}

impl Connector {
    /// Starts or opens the server and completes the handshake; `known_era` decides which handshake goes
    /// first. Dropping the future kills what was started.
    ///
    /// # Errors
    /// If neither handshake succeeds within [`START_TIMEOUT`].
    pub async fn connect(
        &self,
        known_era: Option<Era>,
        tools: Arc<dyn ToolDefinitions>,
    ) -> Result<ConnectedServer, ConnectError> {
        let deadline = Instant::now() + START_TIMEOUT;
        // If a server exits or fails at a request of the other lifecycle, a second process starts without
        // that request.
        let orders = match known_era {
            Some(Era::Legacy) => [HandshakeOrder::InitializeOnly, HandshakeOrder::DiscoverFirst],
            Some(Era::Modern) | None => [HandshakeOrder::DiscoverFirst, HandshakeOrder::InitializeOnly],
        };
        let first = match self.attempt(&tools, orders[0], deadline).await {
            Err(AttemptError {
                may_try_other_handshake: true,
                error,
            }) => error,
            first => return first.map_err(|failed| failed.error),
        };
        tracing::debug!(server = %self.server, error = %first.cause, "starting the server with the other handshake");
        let second = self.attempt(&tools, orders[1], deadline).await;
        // Report only the error of `initialize`; the server may not even know `server/discover`.
        second.map_err(|failed| match orders[1] {
            HandshakeOrder::InitializeOnly => failed.error,
            HandshakeOrder::DiscoverFirst => first,
        })
    }

    async fn attempt(
        &self,
        tools: &Arc<dyn ToolDefinitions>,
        order: HandshakeOrder,
        deadline: Instant,
    ) -> Result<ConnectedServer, AttemptError> {
        let secrets = Secrets::of(&self.secrets, &self.transport);
        let notifications = Notifications::new(self.server.clone(), Arc::clone(&self.client), secrets);
        let notifications = Arc::new(notifications);
        let failed = |cause: StartError, stderr: StderrTail, may_try_other_handshake| AttemptError {
            error: ConnectError {
                cause: cause.map(|text| notifications.secrets.hide(&text)),
                stderr,
            },
            may_try_other_handshake,
        };
        let (mut handle, mut transport) = ServerHandle::open(self, tools, &notifications)
            .await
            .map_err(|cause| failed(cause, StderrTail::default(), false))?;
        let capabilities = Value::Object(client::capabilities(&self.client));
        let shaken = timeout_at(deadline, shake_hands(&mut transport, order, &capabilities)).await;
        let error = match shaken {
            Ok(Ok(hello)) => return Ok(self.serve(handle, transport, notifications, hello)),
            Ok(Err(error)) => Some(error),
            Err(_elapsed) => None,
        };
        drop(transport);
        let (cause, may_try_other_handshake) = match error {
            Some(HandshakeError::Closed) => {
                let cause = match timeout(EXIT_WAIT, handle.ended()).await {
                    Ok(cause) => cause,
                    Err(_elapsed) => {
                        handle.kill().await;
                        "closed its stdout".to_owned()
                    }
                };
                match &handle {
                    // Both handshakes go over one connection.
                    ServerHandle::Remote(remote) if remote.awaits_login() => {
                        (StartError::LoginNeeded { cause }, false)
                    }
                    ServerHandle::Remote(_) => (StartError::Unreachable { cause }, false),
                    ServerHandle::Process(_) => {
                        // Both statuses mean that the command cannot be executed: no handshake helps.
                        let never_ran = cause.ends_with("status 126") || cause.ends_with("status 127");
                        (StartError::Exited { cause }, !never_ran)
                    }
                }
            }
            Some(HandshakeError::Refused(cause)) => {
                handle.kill().await;
                // A remote server has received both requests over one connection.
                let has_received_both = handle.is_remote() && matches!(order, HandshakeOrder::DiscoverFirst);
                (StartError::Handshake { cause }, !has_received_both)
            }
            None => {
                handle.kill().await;
                let (after, seen) = (START_TIMEOUT, notifications.last_warning());
                (StartError::Silent { after, seen }, false)
            }
        };
        let stderr = handle.stderr();
        let _ = timeout(EXIT_WAIT, stderr.ended()).await;
        Err(failed(cause, stderr.tail(), may_try_other_handshake))
    }

    fn serve(
        &self,
        handle: ServerHandle,
        transport: ServerTransport,
        notifications: Arc<Notifications>,
        hello: ServerHello,
    ) -> ConnectedServer {
        // `rmcp` refuses server requests beyond these capabilities. A modern server receives the
        // client's capabilities with each request.
        let capabilities = Value::Object(client::capabilities(&self.client));
        let capabilities: ClientCapabilities = serde_json::from_value(capabilities).unwrap_or_default();
        let service = ClientService {
            server: self.server.clone(),
            config: ClientConfig::new(capabilities, client_info()),
            client: Arc::clone(&self.client),
            notifications: Arc::clone(&notifications),
        };
        ConnectedServer {
            handle,
            service: serve_directly(service, transport, Some(hello.info.clone())),
            notifications,
            hello,
        }
    }
}
