//! The two directions of a connection as bounded queues: lines from the client, and messages to the client.

use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::in_flight::AnswerGuard;
use crate::lines::Line;

/// Limit on queued lines; a client that sends faster waits.
const LINE_QUEUE: usize = 4;

/// Limit on queued messages.
const MESSAGE_QUEUE: usize = 64;

/// Time limit for the last messages of a connection whose client does not read.
pub(crate) const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// Both directions of a connection. The threads or tasks that fill and drain the queues never block the host's tasks.
#[derive(Debug)]
pub struct Pipes {
    pub(crate) lines: mpsc::Receiver<Line>,
    pub(crate) out: Writer,
}

#[derive(Debug, Clone)]
pub(crate) struct Writer {
    queue: mpsc::Sender<Outgoing>,
}

#[derive(Debug)]
pub(crate) struct Outgoing {
    /// Bytes with a newline; empty if only `written` matters.
    pub(crate) message: Vec<u8>,
    /// Dropped before the first byte is written: a client that has read its answer may reuse the id at once.
    pub(crate) guard: Option<AnswerGuard>,
    pub(crate) written: oneshot::Sender<()>,
}

/// The connection has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the connection has ended")]
pub struct Ended;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueueError {
    Ended,
    Unread,
}

impl Writer {
    /// Writes a message and a newline. A message to a client that has closed its side counts as written.
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

    /// Queues a message without waiting for the write. Gives up at `deadline` if the queue is still full. Cancel-safe:
    /// the message is taken only once it is queued.
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

    /// Waits until all queued messages are written; does not wait for a client that does not read.
    pub(crate) async fn flush(&self) {
        let (written, done) = oneshot::channel();
        let last = Outgoing {
            message: Vec::new(),
            guard: None,
            written,
        };
        let last = async {
            if self.queue.send(last).await.is_ok() {
                // If the writer has ended, no message is left to write.
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
