//! Brings a server to life: starts its process, greets it, and hands its pipes to the MCP library.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientCapabilities, ClientConfig};
use rmcp::service::{RunningService, serve_directly};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};

use crate::carrier::Carrier;
use crate::client::{self, Behind};
use crate::connection::Connection;
use crate::error::{StartError, StderrTail, UpstreamError};
use crate::handshake::{Greeting, Probe, Silence, client_info, greet};
use crate::hub::Era;
use crate::link::Link;
use crate::secrets::Secrets;
use crate::transport::{Pipes, Traffic};

/// How long a server may take to greet; package runners download on the first start.
pub(crate) const START_TIMEOUT: Duration = Duration::from_secs(60);
/// How long the status of a server that closed its pipes is waited for.
const STATUS: Duration = Duration::from_secs(1);

/// A server that has been greeted.
pub(crate) struct Life {
    pub(crate) carrier: Carrier,
    pub(crate) service: RunningService<RoleClient, Behind>,
    pub(crate) connection: Arc<Connection>,
    pub(crate) greeting: Greeting,
}

/// Starts the server and greets it. Dropping the future kills what was started.
pub(crate) async fn start(link: &Arc<Link>) -> Result<Life, UpstreamError> {
    let deadline = Instant::now() + START_TIMEOUT;
    // A server that ends or balks at the question for the other lifecycle gets a second process without it.
    let probes = match link.era() {
        Some(Era::Legacy) => [Probe::Initialize, Probe::Both],
        Some(Era::Modern) | None => [Probe::Both, Probe::Initialize],
    };
    let first = match attempt(link, probes[0], deadline).await {
        Err(Failure {
            worth_another: true,
            error,
        }) => error,
        first => return first.map_err(|failure| failure.error),
    };
    tracing::debug!(server = %link.config.name, error = %first, "greeting it in the other way");
    let second = attempt(link, probes[1], deadline).await;
    second.map_err(|failure| match probes[1] {
        Probe::Initialize => failure.error.after(first),
        // What came of the question for the other lifecycle says less.
        Probe::Both => first.after(failure.error),
    })
}

struct Failure {
    error: UpstreamError,
    worth_another: bool,
}

async fn attempt(link: &Arc<Link>, probe: Probe, deadline: Instant) -> Result<Life, Failure> {
    let secrets = Secrets::of(&link.config);
    let traffic = Traffic::new(link.config.name.clone(), Arc::clone(&link.client), secrets);
    let traffic = Arc::new(traffic);
    let error = |cause: StartError, stderr| UpstreamError::Start {
        server: link.config.name.clone(),
        cause: cause.map(|text| traffic.secrets.hide(&text)),
        stderr,
    };
    let capabilities = Value::Object(client::capabilities(&link.client));
    let (mut carrier, mut pipes) =
        Carrier::open(link, Arc::clone(&traffic))
            .await
            .map_err(|cause| Failure {
                error: error(cause, StderrTail::default()),
                worth_another: false,
            })?;
    let silence = match timeout_at(deadline, greet(&mut pipes, probe, &capabilities)).await {
        Ok(Ok(greeting)) => return Ok(live(link, carrier, pipes, traffic, greeting)),
        Ok(Err(silence)) => Some(silence),
        Err(_elapsed) => None,
    };
    drop(pipes);
    let (cause, worth_another) = match silence {
        Some(Silence::Closed) => {
            let cause = match timeout(STATUS, carrier.ended()).await {
                Ok(cause) => cause,
                Err(_elapsed) => {
                    carrier.kill().await;
                    "closed its stdout".to_owned()
                }
            };
            if let Carrier::Remote(remote) = &carrier {
                // Both ways of greeting are tried over one connection.
                let cause = if remote.awaits_login() {
                    StartError::LoginNeeded { cause }
                } else {
                    StartError::Unreachable { cause }
                };
                return Err(Failure {
                    error: error(cause, StderrTail::default()),
                    worth_another: false,
                });
            }
            // The two statuses of a command that cannot be executed: no way of greeting helps.
            let never_ran = cause.ends_with("status 126") || cause.ends_with("status 127");
            (StartError::Exited { cause }, !never_ran)
        }
        Some(Silence::Refused(cause)) => {
            carrier.kill().await;
            // A remote server is asked in both ways over one connection.
            let was_asked_both = matches!((&carrier, probe), (Carrier::Remote(_), Probe::Both));
            (StartError::Handshake { cause }, !was_asked_both)
        }
        None => {
            carrier.kill().await;
            (
                StartError::Silent {
                    after: START_TIMEOUT,
                    seen: traffic.seen(),
                },
                false,
            )
        }
    };
    let stderr = carrier.stderr();
    let _ = timeout(STATUS, stderr.ended()).await;
    Err(Failure {
        error: error(cause, stderr.tail()),
        worth_another,
    })
}

fn live(link: &Link, carrier: Carrier, pipes: Pipes, traffic: Arc<Traffic>, greeting: Greeting) -> Life {
    // What a server asks that goes beyond them is refused politely. One of the modern era hears with each request what
    // the client of that request can do.
    let capabilities = Value::Object(client::capabilities(&link.client));
    let capabilities: ClientCapabilities = serde_json::from_value(capabilities).unwrap_or_default();
    let behind = Behind {
        server: link.config.name.clone(),
        config: ClientConfig::new(capabilities, client_info()),
        client: Arc::clone(&link.client),
        traffic: Arc::clone(&traffic),
    };
    let service = serve_directly(behind, pipes, Some(greeting.info.clone()));
    let connection = Arc::new(Connection {
        server: link.config.name.clone(),
        peer: service.peer().clone(),
        traffic,
        stderr: carrier.stderr(),
        pid: carrier.pid(),
        era: greeting.era,
        is_remote: matches!(carrier, Carrier::Remote(_)),
        capabilities: greeting.info.capabilities.clone(),
        end: watch::channel(None).0,
        has_served: false.into(),
    });
    Life {
        carrier,
        service,
        connection,
        greeting,
    }
}
