//! Decides which client messages reach the surface: the connection must be open, ids must be unique, and the requests
//! in flight are limited.

use std::sync::{Arc, OnceLock};

use rmcp::model::{
    ClientNotification, ClientRequest, ErrorData, GetExtensions, GetMeta, JsonRpcMessage, ProtocolVersion,
    RequestId,
};
use surfaces::ArrivalOrder;
use tokio_util::sync::CancellationToken;

use crate::in_flight::{AnswerGuard, InFlight};
use crate::message::{ClientMessage, Rejection};

/// What other parts learn about a connection.
#[derive(Debug, Clone, Default)]
pub struct ConnectionEvents {
    /// The client has closed its side, and every run of the client ends.
    pub closed: CancellationToken,
    /// The first response is written, so work that would have delayed it may start.
    pub answered: CancellationToken,
    /// Name and version of the client, once received.
    pub client: Arc<OnceLock<String>>,
}

/// Maximum length of the client's name and version, in characters.
const CLIENT_NAME: usize = 120;

/// The admission state of one client.
#[derive(Debug)]
pub(crate) struct Admission {
    in_flight: InFlight,
    arrivals: ArrivalOrder,
    client: Arc<OnceLock<String>>,
    /// Whether a request has opened the connection. `rmcp` drops a connection that starts with any other message.
    is_open: bool,
}

impl Admission {
    pub(crate) fn new(client: Arc<OnceLock<String>>) -> Self {
        Self {
            in_flight: InFlight::default(),
            arrivals: ArrivalOrder::default(),
            client,
            is_open: false,
        }
    }

    /// Returns the message for `rmcp`; `None` if the message is dropped because it needs no response.
    pub(crate) fn admit(&mut self, message: ClientMessage) -> Result<Option<ClientMessage>, Box<Rejection>> {
        match message {
            JsonRpcMessage::Request(mut request) => {
                let reject = |error: ErrorData| Box::new(Rejection::new(error, Some(request.id.clone())));
                self.note_client(&request.request);
                self.check_opening(&request.request).map_err(reject)?;
                let handling = self.in_flight.start(&request.id);
                let handling = handling.map_err(|error| reject(error.into()))?;
                let is_call = matches!(request.request, ClientRequest::CallToolRequest(_));
                let extensions = request.request.extensions_mut();
                extensions.insert(handling);
                if is_call {
                    extensions.insert(self.arrivals.ticket());
                }
                Ok(Some(JsonRpcMessage::Request(request)))
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.in_flight.cancelled(id);
                }
                Ok(self.is_open.then_some(JsonRpcMessage::Notification(notification)))
            }
            response @ (JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)) => {
                // `rmcp` drops a response that nobody waits for.
                Ok(self.is_open.then_some(response))
            }
        }
    }

    /// Frees the id when dropped, just before the answer is written.
    pub(crate) fn answer_guard(&self, id: RequestId) -> AnswerGuard {
        self.in_flight.answer_guard(id)
    }

    /// Remembers the client's name, from `initialize` or the first request's `_meta`.
    fn note_client(&self, request: &ClientRequest) {
        if self.client.get().is_some() {
            return;
        }
        let info = match request {
            ClientRequest::InitializeRequest(request) => Some(request.params.client_info.clone()),
            request => request.get_meta().client_info(),
        };
        if let Some(info) = info {
            let name = [info.name.as_str(), info.version.as_str()].join(" ");
            let name = name.trim().chars().take(CLIENT_NAME).collect();
            // An earlier request may already have set the name.
            let _ = self.client.set(name);
        }
    }

    /// Opens the connection at `initialize`, or at a request with complete metadata and a known protocol version.
    /// Before that, a request without a protocol version is refused, unless it is `ping` or `server/discover`.
    fn check_opening(&mut self, request: &ClientRequest) -> Result<(), ErrorData> {
        if self.is_open {
            return Ok(());
        }
        let meta = request.get_meta();
        match request {
            ClientRequest::InitializeRequest(_) => self.is_open = true,
            ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => {}
            _ if meta.protocol_version().is_none() => {
                return Err(ErrorData::invalid_request(
                    format!(
                        "`{}` before `initialize`; call `initialize` first",
                        request.method()
                    ),
                    None,
                ));
            }
            _ => {
                let is_complete = meta
                    .missing_required_keys(&ProtocolVersion::V_2026_07_28)
                    .is_empty();
                let is_known = meta
                    .protocol_version()
                    .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version));
                // If metadata is missing or the version is unknown, `rmcp` answers by itself and still waits for an
                // opening request.
                self.is_open = is_complete && is_known;
            }
        }
        Ok(())
    }
}
