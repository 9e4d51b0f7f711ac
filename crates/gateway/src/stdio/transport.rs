//! The MCP library's transport over [`Pipes`]: answers what no handler may see, tracks ids, announces the end.

use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientNotification, ClientRequest, CustomResult, ErrorCode, ErrorData, GetExtensions, GetMeta,
    JsonRpcMessage, ProtocolVersion, RequestId, ServerResult,
};
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::flights::{Flights, Landing, MAX_IN_FLIGHT, Refused};
use super::message::{self, Incoming, RELAYED, UNDECLARED, Unusable};
use super::pipes::{Ended, LAST_WORDS, Pipes, QueueError, Writer};
use super::turns::Turns;

/// Code of a refusal that is the server's own, from the range that JSON-RPC leaves to servers.
const BUSY: ErrorCode = ErrorCode(-32000);

/// What a connection announces to the parts around it.
#[derive(Debug, Clone, Default)]
pub struct Signals {
    /// The client has closed its side: everything that runs for it ends.
    pub closed: CancellationToken,
    /// The first answer is on its way: work that would have delayed it may begin.
    pub answered: CancellationToken,
    /// What the client calls itself, name and version, once it has said so.
    pub client: Arc<OnceLock<String>>,
}

/// Characters of a client's name that are remembered.
const LONGEST_CLIENT: usize = 120;

/// How long reading stops for a client that sends garbage and does not read what it is told.
const PATIENCE: Duration = Duration::from_secs(2);

/// An answer of the transport's own that waits to be queued. It is kept between calls because `receive` is dropped
/// and called again at any time.
#[derive(Debug, Default)]
struct Reply {
    message: Option<Vec<u8>>,
    /// When it is given up.
    deadline: Option<Instant>,
    /// The last one was given up, so the next one does not wait.
    unread: bool,
}

/// One connection, before and after its handshake.
#[derive(Debug)]
pub(crate) struct StdioTransport {
    pipes: Pipes,
    flights: Flights,
    turns: Turns,
    signals: Signals,
    /// A request has opened the connection; before that the library gives up on anything that does not.
    open: bool,
    reply: Reply,
    /// Requests for servers keep their parameters as they came, answers are written as they are, and servers may ask.
    relays: bool,
}

impl StdioTransport {
    pub(crate) fn new(pipes: Pipes, signals: Signals) -> Self {
        Self {
            pipes,
            flights: Flights::default(),
            turns: Turns::default(),
            signals,
            open: false,
            reply: Reply::default(),
            relays: false,
        }
    }

    /// One behind which other servers are asked.
    pub(crate) fn relaying(pipes: Pipes, signals: Signals) -> Self {
        Self {
            relays: true,
            ..Self::new(pipes, signals)
        }
    }

    /// Judges one message: what the library may see, or nothing.
    fn admit(&mut self, message: Incoming) -> Result<Option<Incoming>, Box<Unusable>> {
        match message {
            JsonRpcMessage::Request(mut request) => {
                self.note_client(&request.request);
                self.judge_opening(&request.request).map_err(|error| Unusable {
                    error,
                    id: Some(request.id.clone()),
                })?;
                let flight = self.flights.start(&request.id).map_err(|refused| Unusable {
                    error: refusal(refused, &request.id),
                    id: Some(request.id.clone()),
                })?;
                let turn =
                    matches!(request.request, ClientRequest::CallToolRequest(_)).then(|| self.turns.next());
                let extensions = request.request.extensions_mut();
                extensions.insert(flight);
                if let Some(turn) = turn {
                    extensions.insert(turn);
                }
                Ok(Some(JsonRpcMessage::Request(request)))
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.flights.cancelled(id);
                }
                Ok(self.open.then_some(JsonRpcMessage::Notification(notification)))
            }
            answer @ (JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)) if self.relays && self.open => {
                Ok(Some(answer))
            }
            // We ask clients nothing ourselves, so what they answer belongs to nothing.
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => Ok(None),
        }
    }

    /// Remembers what the client calls itself: it says so when it opens, or with each request.
    fn note_client(&self, request: &ClientRequest) {
        if self.signals.client.get().is_some() {
            return;
        }
        let info = match request {
            ClientRequest::InitializeRequest(request) => Some(request.params.client_info.clone()),
            request => request.get_meta().client_info(),
        };
        if let Some(info) = info {
            let name = [info.name.as_str(), info.version.as_str()].join(" ");
            let name = name.trim().chars().take(LONGEST_CLIENT).collect();
            // Only the first counts.
            let _ = self.signals.client.set(name);
        }
    }

    /// A connection opens with `initialize`, or with a request that names its protocol version.
    fn judge_opening(&mut self, request: &ClientRequest) -> Result<(), ErrorData> {
        if self.open {
            return Ok(());
        }
        let meta = request.get_meta();
        match request {
            ClientRequest::InitializeRequest(_) => self.open = true,
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
                let complete = meta
                    .missing_required_keys(&ProtocolVersion::V_2026_07_28)
                    .is_empty();
                let known = meta
                    .protocol_version()
                    .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version));
                // The library answers the others itself and stays in the handshake.
                self.open = complete && known;
            }
        }
        Ok(())
    }

    /// Queues the answer that waits, or gives it up for a client that does not read.
    async fn settle_reply(&mut self) -> Result<(), Ended> {
        let reply = &mut self.reply;
        if reply.message.is_none() {
            return Ok(());
        }
        let patience = if reply.unread { Duration::ZERO } else { PATIENCE };
        let deadline = *reply.deadline.get_or_insert_with(|| Instant::now() + patience);
        match self.pipes.out.queue(&mut reply.message, deadline).await {
            Ok(()) => reply.unread = false,
            Err(QueueError::Ended) => return Err(Ended),
            Err(QueueError::Unread) => {
                tracing::warn!("the client does not read its answers; an error is not told");
                reply.message = None;
                reply.unread = true;
            }
        }
        reply.deadline = None;
        Ok(())
    }
}

impl Transport<RoleServer> for StdioTransport {
    type Error = Ended;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Ended>> + Send + 'static {
        let writer = self.pipes.out.clone();
        let flights = self.flights.clone();
        let Signals { closed, answered, .. } = self.signals.clone();
        async move {
            let id = match &message {
                JsonRpcMessage::Response(response) => Some(response.id.clone()),
                JsonRpcMessage::Error(error) => error.id.clone(),
                JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
            };
            let landing = id.map(|id| flights.landing(id));
            let is_answer = landing.is_some();
            let result = tokio::select! {
                result = write(&writer, &message, landing) => result,
                () = overdue(&closed) => Err(Ended),
            };
            if is_answer {
                answered.cancel();
            }
            result
        }
    }

    async fn receive(&mut self) -> Option<Incoming> {
        loop {
            self.settle_reply().await.ok()?;
            let Some(line) = self.pipes.lines.recv().await else {
                self.signals.closed.cancel();
                return None;
            };
            let methods = if self.relays { RELAYED } else { UNDECLARED };
            let decoded = upstream::aside(line.length(), || {
                message::decode(&line).map(|message| message::undecoded(message, &line, methods))
            });
            match decoded.and_then(|message| self.admit(message)) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(unusable) => self.reply.message = encode(&ErrorReply::new(*unusable)),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Ended> {
        self.signals.closed.cancel();
        self.pipes.out.flush().await;
        Ok(())
    }
}

/// Resolves when a client that has closed its side has had its time to read last answers.
async fn overdue(closed: &CancellationToken) {
    closed.cancelled().await;
    tokio::time::sleep(LAST_WORDS).await;
}

async fn write(
    writer: &Writer,
    message: &TxJsonRpcMessage<RoleServer>,
    landing: Option<Landing>,
) -> Result<(), Ended> {
    let bytes = match as_text(message) {
        Some((id, text)) => encode(&TextReply {
            jsonrpc: "2.0",
            id,
            result: &text,
        }),
        None => encode(message),
    };
    match bytes {
        Some(bytes) => writer.write(bytes, landing).await,
        None => Ok(()),
    }
}

/// A result that is passed on as the text that a server wrote; the library carries it as a string, which no result is.
fn as_text(message: &TxJsonRpcMessage<RoleServer>) -> Option<(RequestId, Box<RawValue>)> {
    let JsonRpcMessage::Response(response) = message else {
        return None;
    };
    let ServerResult::CustomResult(CustomResult(Value::String(text))) = &response.result else {
        return None;
    };
    let text = RawValue::from_string(text.clone()).ok()?;
    Some((response.id.clone(), text))
}

/// An answer whose result is written as it is.
#[derive(Serialize)]
struct TextReply<'a> {
    jsonrpc: &'static str,
    id: RequestId,
    result: &'a RawValue,
}

fn encode(message: &impl Serialize) -> Option<Vec<u8>> {
    match serde_json::to_vec(message) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            tracing::error!(%error, "an answer cannot be encoded");
            None
        }
    }
}

fn refusal(refused: Refused, id: &RequestId) -> ErrorData {
    match refused {
        Refused::Duplicate => ErrorData::invalid_request(
            format!("Invalid request: a request with id {id} is under way already"),
            None,
        ),
        Refused::Full => ErrorData::new(
            BUSY,
            format!("{MAX_IN_FLIGHT} requests are under way already; wait for answers"),
            None,
        ),
    }
}

/// An error as JSON-RPC has it: the library leaves an unknown id out, where it must be null.
#[derive(Serialize)]
struct ErrorReply {
    jsonrpc: &'static str,
    id: Option<RequestId>,
    error: ErrorData,
}

impl ErrorReply {
    fn new(Unusable { error, id }: Unusable) -> Self {
        Self {
            jsonrpc: "2.0",
            id,
            error,
        }
    }
}
