//! JSON-RPC with one server as a transport of the MCP library.
//!
//! Results stay the text that the server sent.

mod frame;
mod lines;
mod reader;
mod reply;
mod writer;

use std::collections::{HashSet, VecDeque};
use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, NumberOrString, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio::task::yield_now;

use crate::blocking::block_in_place_if_large;
use crate::notifications::Notifications;
pub use frame::{Frame, JsonRpcResponse};
pub(crate) use lines::SkippedMessage;
pub use lines::{Line, MAX_LINE, Splitter};
pub(crate) use reader::Incoming;
use reader::MessageReader;
pub use reader::RequestFailure;
pub use reply::Reply;
use writer::MessageWriter;

/// The library counts its ids from zero. These are far above, yet fit servers that store ids as 32-bit
/// integers.
pub(crate) const HANDSHAKE_IDS: RangeInclusive<i64> = 2_000_000_000..=2_000_000_002;
/// After this many lines other tasks get their turn, so that a talkative server does not delay other
/// sessions.
const LINES_PER_TURN: usize = 8;
/// A server cancels its own request with this.
const CANCELLED: &str = "notifications/cancelled";

/// Both directions of a connection: the pipes of a process, or the channels of a remote connection.
///
/// The library receives the server's requests, and answers to its own requests as [`Reply`]. Everything else
/// (progress, list changes, logs, noise) goes to [`Notifications`].
#[derive(Debug)]
pub(crate) struct ServerTransport {
    reader: MessageReader,
    writer: MessageWriter,
    notifications: Arc<Notifications>,
    /// Ids of our unanswered requests.
    outstanding: HashSet<i64>,
    /// One more than the highest id sent: no request has this id or a higher one.
    next_id: i64,
    /// For the library.
    ready: VecDeque<ServerJsonRpcMessage>,
    /// Since other tasks last had their turn.
    lines_read: usize,
}

impl ServerTransport {
    pub(crate) fn of_process(
        stdin: pipe::Sender,
        stdout: pipe::Receiver,
        notifications: Arc<Notifications>,
    ) -> ServerTransport {
        ServerTransport::new(
            MessageReader::of_pipe(stdout),
            MessageWriter::of_pipe(stdin),
            notifications,
        )
    }

    /// Each outgoing message ends with a line feed.
    pub(crate) fn of_channels(
        outgoing: mpsc::Sender<Vec<u8>>,
        incoming: mpsc::Receiver<Incoming>,
        notifications: Arc<Notifications>,
    ) -> ServerTransport {
        ServerTransport::new(
            MessageReader::Channel(incoming),
            MessageWriter::of_channel(outgoing),
            notifications,
        )
    }

    fn new(
        reader: MessageReader,
        writer: MessageWriter,
        notifications: Arc<Notifications>,
    ) -> ServerTransport {
        ServerTransport {
            reader,
            writer,
            notifications,
            outstanding: HashSet::new(),
            next_id: 0,
            ready: VecDeque::new(),
            lines_read: 0,
        }
    }

    pub(crate) async fn write(&mut self, message: &serde_json::Value) -> io::Result<()> {
        self.writer.send(encode(message)?).await
    }

    /// The next message of the handshake; `None` once the server has closed its stdout. Safe to cancel.
    pub(crate) async fn read(&mut self) -> Option<Frame> {
        loop {
            match self.reader.next().await {
                Ok(Some(Incoming::Line(Line::Whole(line)))) => match Frame::parse(&line) {
                    Frame::Noise => self.notifications.receive_noise(&line),
                    frame => return Some(frame),
                },
                Ok(Some(Incoming::Line(Line::TooLong { length, .. }))) => {
                    self.notifications
                        .warn(format!("left out a line of {length} bytes"));
                }
                Ok(Some(Incoming::Failed { id, failure })) => return Some(failure.into_frame(id)),
                Ok(None) => return None,
                Err(error) => {
                    self.notifications
                        .warn(format!("reading from its stdout failed: {error}"));
                    return None;
                }
            }
        }
    }

    pub(crate) fn receive_notification(&self, method: &str, params: serde_json::Value) {
        self.notifications.receive(method, params);
    }

    fn accept(&mut self, line: Line) {
        match line {
            Line::Whole(line) => match block_in_place_if_large(line.len(), || Frame::parse(&line)) {
                Frame::Answer(answer) => self.answer(answer),
                Frame::Request(request) => self.ready.push_back(*request),
                Frame::Notification { method, .. } if method == CANCELLED => {
                    // The library finds the request by its id.
                    self.ready
                        .extend(serde_json::from_slice::<ServerJsonRpcMessage>(&line));
                }
                Frame::Notification { method, params } => self.notifications.receive(&method, params),
                Frame::Broken { id } => self.broken(id, &line),
                Frame::Noise => self.notifications.receive_noise(&line),
            },
            Line::TooLong { length, id } => {
                self.notifications
                    .warn(format!("left out a line of {length} bytes, more than {MAX_LINE}"));
                self.fail(id, Reply::TooLarge(length));
            }
        }
    }

    fn answer(&mut self, JsonRpcResponse { id, outcome }: JsonRpcResponse) {
        let Some(id) = id else {
            // Without an id no request matches, but the message may explain a missing answer.
            if let Err(error) = outcome {
                self.notifications.warn(format!(
                    "it reported an error without the id of a request: {}",
                    error.message
                ));
            }
            return;
        };
        if !self.outstanding.remove(&id) {
            // Answers to cancelled requests and to the handshake may come late.
            if id >= self.next_id && !HANDSHAKE_IDS.contains(&id) {
                self.notifications
                    .warn(format!("it answered request {id}, which was never sent"));
            }
            return;
        }
        self.ready.push_back(match outcome {
            Ok(raw) => message(id, Reply::Raw(raw)),
            Err(error) => JsonRpcMessage::error(error, Some(NumberOrString::Number(id))),
        });
    }

    /// The line was meant as an answer and cannot be read.
    fn broken(&mut self, id: Option<i64>, line: &[u8]) {
        self.notifications.receive_noise(line);
        let cause = "a line that is not a JSON-RPC message".to_owned();
        match id {
            Some(_) => self.fail(id, Reply::Broken(cause)),
            // A single pending request must be the answered one. Several keep waiting for their time-outs.
            None if self.outstanding.len() == 1 => self.fail(None, Reply::Broken(cause)),
            None => {}
        }
    }

    /// Without an id, all pending requests fail.
    fn fail(&mut self, id: Option<i64>, reply: Reply) {
        match id {
            Some(id) => {
                if self.outstanding.remove(&id) {
                    self.ready.push_back(message(id, reply));
                }
            }
            None => self
                .ready
                .extend(self.outstanding.drain().map(|id| message(id, reply.clone()))),
        }
    }

    fn track(&mut self, item: &ClientJsonRpcMessage) {
        match item {
            JsonRpcMessage::Request(request) => {
                if let NumberOrString::Number(id) = request.id {
                    self.outstanding.insert(id);
                    self.next_id = self.next_id.max(id + 1);
                }
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(NumberOrString::Number(id)) = &cancelled.params.request_id
                {
                    self.outstanding.remove(id);
                }
            }
            _ => {}
        }
    }
}

impl Transport<RoleClient> for ServerTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        item: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.track(&item);
        let sent = encode(&item).map(|bytes| self.writer.send(bytes));
        async move { sent?.await }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            if self.lines_read >= LINES_PER_TURN {
                self.lines_read = 0;
                yield_now().await;
            }
            match self.reader.next().await {
                Ok(Some(Incoming::Line(line))) => {
                    self.lines_read += 1;
                    self.accept(line);
                }
                Ok(Some(Incoming::Failed { id, failure })) => self.fail(Some(id), Reply::Failed(failure)),
                Ok(None) => return None,
                Err(error) => {
                    self.notifications
                        .warn(format!("reading from its stdout failed: {error}"));
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.writer.close();
        Ok(())
    }
}

fn message(id: i64, reply: Reply) -> ServerJsonRpcMessage {
    JsonRpcMessage::response(reply.into_result(), NumberOrString::Number(id))
}

fn encode(message: &impl serde::Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(message)?;
    bytes.push(b'\n');
    Ok(bytes)
}
