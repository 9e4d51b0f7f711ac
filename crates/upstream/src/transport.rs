//! The pipes of one server as a transport of the MCP library: lines in, lines out, every answer kept as its own text.

mod frame;
mod inlet;
mod lines;
mod outbox;
mod reply;
mod traffic;

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

use crate::aside::aside;
pub use frame::{Answer, Frame};
use inlet::Inlet;
pub(crate) use inlet::{Failure, Incoming};
pub(crate) use lines::IdScanner;
pub(crate) use lines::MAX_LINE;
pub use lines::{Line, Splitter};
use outbox::Outbox;
pub(crate) use reply::Reply;
pub(crate) use traffic::Traffic;

/// Numbers of the requests of the handshake. The library counts its own from zero; these are far off, and small enough
/// for servers that keep numbers as they like.
pub(crate) const HANDSHAKE_IDS: RangeInclusive<i64> = 2_000_000_000..=2_000_000_002;
/// Lines read before other tasks go on: a server that answers many calls at once holds up no other session.
const TURN: usize = 8;
/// The notification by which a server takes back what it has asked.
const CANCELLED: &str = "notifications/cancelled";

/// Both pipes of a server: those of a process, or what stands for them where it is remote.
///
/// The library sees requests of the server and answers to its own requests, each answer in a [`Reply`]. Everything
/// else a server may write (progress, list changes, logs, noise) goes to [`Traffic`].
#[derive(Debug)]
pub(crate) struct Pipes {
    inlet: Inlet,
    outbox: Outbox,
    traffic: Arc<Traffic>,
    /// Requests of ours without an answer.
    outstanding: HashSet<i64>,
    /// The number after the highest that was sent: an answer to a higher one was never asked for.
    unsent: i64,
    /// What one line brought beyond its first message.
    ready: VecDeque<ServerJsonRpcMessage>,
    /// Lines taken since other tasks last went on.
    taken: usize,
}

impl Pipes {
    /// The pipes of a process.
    pub(crate) fn of_process(stdin: pipe::Sender, stdout: pipe::Receiver, traffic: Arc<Traffic>) -> Pipes {
        Pipes::new(Inlet::of_pipe(stdout), Outbox::of_pipe(stdin), traffic)
    }

    /// What stands for the pipes of a remote server: whole messages, each with the end of its line on the way out.
    pub(crate) fn of_channels(
        outgoing: mpsc::Sender<Vec<u8>>,
        incoming: mpsc::Receiver<Incoming>,
        traffic: Arc<Traffic>,
    ) -> Pipes {
        Pipes::new(Inlet::Channel(incoming), Outbox::of_channel(outgoing), traffic)
    }

    fn new(inlet: Inlet, outbox: Outbox, traffic: Arc<Traffic>) -> Pipes {
        Pipes {
            inlet,
            outbox,
            traffic,
            outstanding: HashSet::new(),
            unsent: 0,
            ready: VecDeque::new(),
            taken: 0,
        }
    }

    /// Sends one message of the handshake.
    pub(crate) async fn write(&mut self, message: &serde_json::Value) -> io::Result<()> {
        self.outbox.send(encode(message)?).await
    }

    /// The next message of the handshake; `None` when the server has closed its stdout. Safe to cancel.
    pub(crate) async fn read(&mut self) -> Option<Frame> {
        loop {
            match self.inlet.next().await {
                Ok(Some(Incoming::Line(Line::Whole(line)))) => match Frame::parse(&line) {
                    Frame::Noise => self.traffic.noise(&line),
                    frame => return Some(frame),
                },
                Ok(Some(Incoming::Line(Line::TooLong { length, .. }))) => {
                    self.traffic.warn(format!("left out a line of {length} bytes"));
                }
                Ok(Some(Incoming::Failed { id, failure })) => return Some(failure.into_frame(id)),
                Ok(None) => return None,
                Err(error) => {
                    self.traffic
                        .warn(format!("reading from its stdout failed: {error}"));
                    return None;
                }
            }
        }
    }

    /// Takes note of a notification that came during the handshake.
    pub(crate) fn notice(&self, method: &str, params: serde_json::Value) {
        self.traffic.notice(method, params);
    }

    fn accept(&mut self, line: Line) {
        match line {
            Line::Whole(line) => match aside(line.len(), || Frame::parse(&line)) {
                Frame::Answer(answer) => self.answer(answer),
                Frame::Request(request) => self.ready.push_back(*request),
                Frame::Notification { method, .. } if method == CANCELLED => {
                    // The library knows which of its questions that is.
                    self.ready
                        .extend(serde_json::from_slice::<ServerJsonRpcMessage>(&line));
                }
                Frame::Notification { method, params } => self.traffic.notice(&method, params),
                Frame::Broken { id } => self.broken(id, &line),
                Frame::Noise => self.traffic.noise(&line),
            },
            Line::TooLong { length, id } => {
                self.traffic
                    .warn(format!("left out a line of {length} bytes, more than {MAX_LINE}"));
                self.fail(id, Reply::TooLarge(length));
            }
        }
    }

    fn answer(&mut self, Answer { id, outcome }: Answer) {
        let Some(id) = id else {
            // Without a number there is nobody to give it to; it may still explain a silence.
            if let Err(error) = outcome {
                self.traffic.warn(format!(
                    "it reported an error without saying of what: {}",
                    error.message
                ));
            }
            return;
        };
        if !self.outstanding.remove(&id) {
            // An answer that was given up on may still come, also those of the handshake.
            if id >= self.unsent && !HANDSHAKE_IDS.contains(&id) {
                self.traffic
                    .warn(format!("it answered request {id}, which was never sent"));
            }
            return;
        }
        self.ready.push_back(match outcome {
            Ok(raw) => message(id, Reply::Raw(raw)),
            Err(error) => JsonRpcMessage::error(error, Some(NumberOrString::Number(id))),
        });
    }

    /// A line that was meant as an answer and is none.
    fn broken(&mut self, id: Option<i64>, line: &[u8]) {
        self.traffic.noise(line);
        let cause = "a line that is no JSON-RPC message".to_owned();
        match id {
            Some(_) => self.fail(id, Reply::Broken(cause)),
            // With one request under way there is no doubt whose answer it was; with more, each waits for its own time.
            None if self.outstanding.len() == 1 => self.fail(None, Reply::Broken(cause)),
            None => {}
        }
    }

    /// Ends the request of that number, or all that are under way if it is unknown.
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

    /// Keeps account of what is under way.
    fn account(&mut self, item: &ClientJsonRpcMessage) {
        match item {
            JsonRpcMessage::Request(request) => {
                if let NumberOrString::Number(id) = request.id {
                    self.outstanding.insert(id);
                    self.unsent = self.unsent.max(id + 1);
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

impl Transport<RoleClient> for Pipes {
    type Error = io::Error;

    fn send(
        &mut self,
        item: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.account(&item);
        let sent = encode(&item).map(|bytes| self.outbox.send(bytes));
        async move { sent?.await }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            if self.taken >= TURN {
                self.taken = 0;
                yield_now().await;
            }
            match self.inlet.next().await {
                Ok(Some(Incoming::Line(line))) => {
                    self.taken += 1;
                    self.accept(line);
                }
                Ok(Some(Incoming::Failed { id, failure })) => self.fail(Some(id), Reply::Failed(failure)),
                Ok(None) => return None,
                Err(error) => {
                    self.traffic
                        .warn(format!("reading from its stdout failed: {error}"));
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.outbox.close();
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
