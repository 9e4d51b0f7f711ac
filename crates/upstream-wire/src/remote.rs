//! The connection to a remote server: carries the messages of a transport over HTTP.
//!
//! ```text
//! transport ── messages ──► dispatch ── one exchange per message ──► POST ─► answer, or an event stream
//!   ▲                      └─────── one listener ──────────────► GET ──► an event stream
//!   └───── lines, failures ◄──────────────────────────────────────────────────┘
//! ```
//!
//! Messages of the server stay unchanged, so that the transport treats them like the lines of a process.

mod credentials;
mod dispatch;
mod endpoint;
mod error;
mod event_stream;
mod exchange;
pub(crate) mod header_parameters;
mod listen;
mod message;
mod response;
pub(crate) mod sse;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::connector::{Connector, ToolDefinitions};
use crate::definition::Http;
use crate::error::StartError;
use crate::http_client::address;
use crate::notifications::Notifications;
use crate::transport::ServerTransport;
use endpoint::{Closed, EndpointConfig};

/// Messages that wait for the dispatcher.
const OUTGOING_QUEUE: usize = 64;
/// Messages that wait for the transport. Each may be as long as a line.
const INCOMING_QUEUE: usize = 4;
const STOP_TIMEOUT: Duration = Duration::from_secs(3);

/// Dropping it closes the connection.
#[derive(Debug)]
pub struct RemoteConnection {
    ended: watch::Receiver<Option<Closed>>,
    dispatcher: AbortHandle,
}

impl RemoteConnection {
    /// The first message opens the connection.
    pub(crate) fn open(
        http: &Http,
        connector: &Connector,
        tools: Arc<dyn ToolDefinitions>,
        notifications: Arc<Notifications>,
    ) -> Result<(RemoteConnection, ServerTransport), StartError> {
        let url = address::parse(&http.url).map_err(|error| StartError::Unreachable {
            cause: format!("`url` {error}"),
        })?;
        let (outgoing, messages) = mpsc::channel(OUTGOING_QUEUE);
        let (inbox, incoming) = mpsc::channel(INCOMING_QUEUE);
        let (end, ended) = watch::channel(None);
        let config = EndpointConfig {
            server: connector.server.clone(),
            url,
            http: http.clone(),
            logins: connector.logins.clone(),
            tools,
            notifications: Arc::clone(&notifications),
            pause: connector.pause.clone(),
            inbox,
            end,
        };
        let dispatcher = tokio::spawn(dispatch::run(config, messages)).abort_handle();
        let remote = RemoteConnection { ended, dispatcher };
        Ok((
            remote,
            ServerTransport::of_channels(outgoing, incoming, notifications),
        ))
    }

    /// Waits for the end and describes it. Safe to cancel.
    pub(crate) async fn ended(&mut self) -> String {
        match self.ended.wait_for(Option::is_some).await {
            Ok(end) => end.clone().unwrap_or_default().cause,
            Err(_dropped) => "was disconnected".to_owned(),
        }
    }

    /// Whether the connection ended because a person has to log in first.
    pub(crate) fn awaits_login(&self) -> bool {
        self.ended.borrow().as_ref().is_some_and(|end| end.awaits_login)
    }

    /// Ends the session, after the transport was closed; describes how it ended.
    pub(crate) async fn stop(&mut self) -> String {
        match timeout(STOP_TIMEOUT, self.ended()).await {
            Ok(end) => end,
            Err(_elapsed) => {
                self.kill();
                "was disconnected without an answer".to_owned()
            }
        }
    }

    pub(crate) fn kill(&self) {
        self.dispatcher.abort();
    }
}

impl Drop for RemoteConnection {
    fn drop(&mut self) {
        self.kill();
    }
}
