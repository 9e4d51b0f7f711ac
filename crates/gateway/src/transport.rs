//! Implements the MCP library's transport over [`Pipes`].

use std::future::Future;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::JsonRpcMessage;
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use surfaces::WireRules;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::admission::{Admission, ConnectionEvents};
use crate::lines::{Line, MAX_LINE};
use crate::message::{self, ClientMessage, Rejection};
use crate::pipes::{Ended, FLUSH_TIMEOUT, Pipes, QueueError};
use crate::reply;

/// Longest pause in reading, for a client that sends invalid messages and does not read the errors.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(2);

/// An error response that waits for the queue. Stored between calls, because `rmcp` may drop `receive` at any time and
/// call it again.
#[derive(Debug, Default)]
struct PendingError {
    message: Option<Vec<u8>>,
    deadline: Option<Instant>,
    /// Whether the last error missed its deadline; the next error then does not wait.
    is_unread: bool,
}

/// A connection, before and after its handshake.
#[derive(Debug)]
pub(crate) struct PipesTransport {
    pipes: Pipes,
    wire: WireRules,
    admission: Admission,
    events: ConnectionEvents,
    error: PendingError,
}

impl PipesTransport {
    pub(crate) fn new(pipes: Pipes, wire: WireRules, events: ConnectionEvents) -> Self {
        Self {
            pipes,
            wire,
            admission: Admission::new(events.client.clone()),
            events,
            error: PendingError::default(),
        }
    }

    fn decode(&self, line: &Line) -> Result<ClientMessage, Box<Rejection>> {
        let (Line::Whole(bytes) | Line::TooLong(bytes)) = line;
        upstream_wire::block_in_place_if_large(bytes.len(), || match line {
            Line::Whole(bytes) => message::decode(bytes, self.wire),
            Line::TooLong(start) => Err(Box::new(Rejection::too_long(start, MAX_LINE))),
        })
    }

    /// Queues the pending error, or drops it for a client that does not read.
    async fn queue_error(&mut self) -> Result<(), Ended> {
        let error = &mut self.error;
        if error.message.is_none() {
            return Ok(());
        }
        let timeout = if error.is_unread {
            Duration::ZERO
        } else {
            QUEUE_TIMEOUT
        };
        let deadline = *error.deadline.get_or_insert_with(|| Instant::now() + timeout);
        match self.pipes.out.queue(&mut error.message, deadline).await {
            Ok(()) => error.is_unread = false,
            Err(QueueError::Ended) => return Err(Ended),
            Err(QueueError::Unread) => {
                tracing::warn!("the client does not read its answers; an error was dropped");
                error.message = None;
                error.is_unread = true;
            }
        }
        error.deadline = None;
        Ok(())
    }
}

impl Transport<RoleServer> for PipesTransport {
    type Error = Ended;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Ended>> + Send + 'static {
        let id = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let guard = id.map(|id| self.admission.answer_guard(id));
        let writer = self.pipes.out.clone();
        let ConnectionEvents { closed, answered, .. } = self.events.clone();
        async move {
            let is_answer = guard.is_some();
            let written = async {
                match reply::encode(&message) {
                    Some(bytes) => writer.write(bytes, guard).await,
                    None => Ok(()),
                }
            };
            let result = tokio::select! {
                result = written => result,
                () = flush_expired(&closed) => Err(Ended),
            };
            if is_answer {
                answered.cancel();
            }
            result
        }
    }

    async fn receive(&mut self) -> Option<ClientMessage> {
        loop {
            self.queue_error().await.ok()?;
            let Some(line) = self.pipes.lines.recv().await else {
                self.events.closed.cancel();
                return None;
            };
            let decoded = self.decode(&line);
            match decoded.and_then(|message| self.admission.admit(message)) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(rejection) => self.error.message = reply::encode_rejection(&rejection),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Ended> {
        self.events.closed.cancel();
        self.pipes.out.flush().await;
        Ok(())
    }
}

/// Resolves [`FLUSH_TIMEOUT`] after the client has closed its side. Until then, the client can read the last
/// responses.
async fn flush_expired(closed: &CancellationToken) {
    closed.cancelled().await;
    tokio::time::sleep(FLUSH_TIMEOUT).await;
}
