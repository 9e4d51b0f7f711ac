//! The two directions of a connection: lines from the client, messages to it, each a queue of bounded length.

use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::in_flight::AnswerGuard;
use crate::lines::Line;

/// Lines that wait to be served; a client that sends faster waits.
const LINE_QUEUE: usize = 4;

/// Messages that wait to be written.
const MESSAGE_QUEUE: usize = 64;

/// How long the last messages may take when the connection ends and the client does not read.
pub(crate) const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// Both directions. Whoever fills and empties them never blocks the host's tasks.
#[derive(Debug)]
pub struct Pipes {
    pub(crate) lines: mpsc::Receiver<Line>,
    pub(crate) out: Writer,
}

/// Queues messages to be written.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    queue: mpsc::Sender<Outgoing>,
}

/// A message on its way to the client.
#[derive(Debug)]
pub(crate) struct Outgoing {
    /// Its bytes with a newline; empty if only `written` matters.
    pub(crate) message: Vec<u8>,
    /// Dropped before the first byte is written, because a client that has read its answer may reuse the id at once.
    pub(crate) guard: Option<AnswerGuard>,
    pub(crate) written: oneshot::Sender<()>,
}

/// The connection has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the connection has ended")]
pub struct Ended;

/// Why a message could not be queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueueError {
    /// The connection has ended.
    Ended,
    /// The client does not read.
    Unread,
}

impl Writer {
    /// Writes one message and its newline. A message to a client that has closed its side counts as written.
    pub(crate) async fn write(&self, mut message: Vec<u8>, guard: Option<AnswerGuard>) -> Result<(), Ended> {
        message.push(b'\n');
        let (written, done) = oneshot::channel();
        self.queue
            .send(Outgoing {
                message,
                guard,
                written,
            })
            .await
            .map_err(|_| Ended)?;
        done.await.map_err(|_| Ended)
    }

    /// Queues one message without waiting until it is written; gives up at `deadline` if the queue is still full.
    /// May be dropped and called again: the message is taken exactly when it is queued.
    pub(crate) async fn queue(
        &self,
        message: &mut Option<Vec<u8>>,
        deadline: Instant,
    ) -> Result<(), QueueError> {
        let permit = match self.queue.try_reserve() {
            Ok(permit) => permit,
            Err(mpsc::error::TrySendError::Closed(())) => return Err(QueueError::Ended),
            Err(mpsc::error::TrySendError::Full(())) => {
                match tokio::time::timeout_at(deadline, self.queue.reserve()).await {
                    Ok(Ok(permit)) => permit,
                    Ok(Err(_)) => return Err(QueueError::Ended),
                    Err(_) => return Err(QueueError::Unread),
                }
            }
        };
        if let Some(mut message) = message.take() {
            message.push(b'\n');
            let (written, _) = oneshot::channel();
            permit.send(Outgoing {
                message,
                guard: None,
                written,
            });
        }
        Ok(())
    }

    /// Waits until everything queued so far is written, but not for a client that does not read.
    pub(crate) async fn flush(&self) {
        let (written, done) = oneshot::channel();
        let last = Outgoing {
            message: Vec::new(),
            guard: None,
            written,
        };
        let last = async {
            if self.queue.send(last).await.is_ok() {
                // A writer that has ended has nothing left to write.
                let _ = done.await;
            }
        };
        if tokio::time::timeout(FLUSH_TIMEOUT, last).await.is_err() {
            tracing::warn!("the client does not read its answers; the last ones are lost");
        }
    }
}

impl Pipes {
    pub(crate) fn channels() -> (Pipes, mpsc::Sender<Line>, mpsc::Receiver<Outgoing>) {
        let (lines_in, lines) = mpsc::channel(LINE_QUEUE);
        let (queue, messages) = mpsc::channel(MESSAGE_QUEUE);
        let out = Writer { queue };
        (Pipes { lines, out }, lines_in, messages)
    }
}
