//! The two byte streams of a connection: read into lines, written one message after the other.

use std::io::{self, Read, Write};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::lines::{Line, LineBuffer, MAX_LINE};
use crate::in_flight::AnswerGuard;

/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;

/// Lines that wait to be served; a client that sends faster waits.
const LINE_QUEUE: usize = 4;

/// Messages that wait to be written.
const MESSAGE_QUEUE: usize = 64;

/// How long the last messages may take when the connection ends and the client does not read.
pub(super) const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// The streams of a connection. Reading and writing them never blocks the host's tasks.
#[derive(Debug)]
pub struct Pipes {
    pub(super) lines: mpsc::Receiver<Line>,
    pub(super) out: Writer,
}

/// Queues messages to be written.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    queue: mpsc::Sender<Outgoing>,
}

#[derive(Debug)]
struct Outgoing {
    message: Vec<u8>,
    /// Dropped before the first byte is written, because a client that has read its answer may reuse the id at once.
    guard: Option<AnswerGuard>,
    written: oneshot::Sender<()>,
}

/// The connection has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the connection has ended")]
pub struct Ended;

/// Why a message could not be queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueueError {
    /// The connection has ended.
    Ended,
    /// The client does not read.
    Unread,
}

impl Writer {
    /// Writes one message and its newline. A message to a client that has closed its side counts as written.
    pub(super) async fn write(&self, mut message: Vec<u8>, guard: Option<AnswerGuard>) -> Result<(), Ended> {
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
    pub(super) async fn queue(
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
    pub(super) async fn flush(&self) {
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
    /// Standard input and output, each on a thread of its own: a read or write that blocks holds up neither the
    /// runtime nor the end of the process.
    pub fn stdio() -> io::Result<Pipes> {
        let (pipes, lines_in, messages) = Pipes::channels();
        std::thread::Builder::new()
            .name("stdin".to_owned())
            .spawn(move || read_blocking(io::stdin().lock(), &lines_in))?;
        std::thread::Builder::new()
            .name("stdout".to_owned())
            .spawn(move || write_blocking(io::stdout(), messages))?;
        Ok(pipes)
    }

    /// Any other pair of streams.
    pub fn over<R, W>(read: R, write: W) -> Pipes
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (pipes, lines_in, messages) = Pipes::channels();
        tokio::spawn(read_async(read, lines_in));
        tokio::spawn(write_async(write, messages));
        pipes
    }

    fn channels() -> (Pipes, mpsc::Sender<Line>, mpsc::Receiver<Outgoing>) {
        let (lines_in, lines) = mpsc::channel(LINE_QUEUE);
        let (queue, messages) = mpsc::channel(MESSAGE_QUEUE);
        let out = Writer { queue };
        (Pipes { lines, out }, lines_in, messages)
    }
}

fn read_blocking(mut read: impl Read, lines_in: &mpsc::Sender<Line>) {
    let mut lines = LineBuffer::new(MAX_LINE);
    let mut chunk = vec![0; READ_BYTES];
    loop {
        let length = match read.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                tracing::warn!(%error, "standard input cannot be read");
                break;
            }
        };
        for line in lines.push(&chunk[..length]) {
            if lines_in.blocking_send(line).is_err() {
                return;
            }
        }
    }
    if let Some(line) = lines.finish() {
        // The receiver is gone if the connection has ended already.
        let _ = lines_in.blocking_send(line);
    }
}

fn write_blocking(mut write: impl Write, mut messages: mpsc::Receiver<Outgoing>) {
    let mut open = true;
    while let Some(outgoing) = messages.blocking_recv() {
        drop(outgoing.guard);
        if open && let Err(error) = write.write_all(&outgoing.message).and_then(|()| write.flush()) {
            closed(&error);
            open = false;
        }
        // The sender may have stopped waiting.
        let _ = outgoing.written.send(());
    }
}

async fn read_async(mut read: impl AsyncRead + Unpin, lines_in: mpsc::Sender<Line>) {
    let mut lines = LineBuffer::new(MAX_LINE);
    let mut chunk = vec![0; READ_BYTES];
    loop {
        match read.read(&mut chunk).await {
            Ok(0) => break,
            Ok(length) => {
                for line in lines.push(&chunk[..length]) {
                    if lines_in.send(line).await.is_err() {
                        return;
                    }
                }
            }
            Err(error) => {
                tracing::warn!(%error, "the client cannot be read");
                break;
            }
        }
    }
    if let Some(line) = lines.finish() {
        // The receiver is gone if the connection has ended already.
        let _ = lines_in.send(line).await;
    }
}

async fn write_async(mut write: impl AsyncWrite + Unpin, mut messages: mpsc::Receiver<Outgoing>) {
    let mut open = true;
    while let Some(outgoing) = messages.recv().await {
        drop(outgoing.guard);
        if open {
            let result = match write.write_all(&outgoing.message).await {
                Ok(()) => write.flush().await,
                failed => failed,
            };
            if let Err(error) = result {
                closed(&error);
                open = false;
            }
        }
        // The sender may have stopped waiting.
        let _ = outgoing.written.send(());
    }
}

/// A client that no longer reads may still send. Its calls go on until it closes the other side too.
fn closed(error: &io::Error) {
    tracing::warn!(%error, "the client has closed its side; answers are dropped from now on");
}
