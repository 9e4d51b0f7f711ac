//! Writes messages to a process in order: at once while the pipe has room, otherwise in a separate task.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::closed;

/// Messages that wait for a server that does not read; then senders wait.
const QUEUE: usize = 64;

#[derive(Debug)]
pub(in crate::transport) struct PipeWriter {
    /// `None` once closed.
    pipe: Option<Arc<pipe::Sender>>,
    queue: mpsc::Sender<Vec<u8>>,
    /// Messages queued and not yet written. At zero the caller writes to the pipe itself, which saves a task
    /// switch.
    unwritten: Arc<AtomicUsize>,
    writer: JoinHandle<()>,
}

impl PipeWriter {
    pub(super) fn new(pipe: pipe::Sender) -> PipeWriter {
        let pipe = Arc::new(pipe);
        let unwritten = Arc::new(AtomicUsize::new(0));
        let (queue, messages) = mpsc::channel(QUEUE);
        let writer = tokio::spawn(write_queued(Arc::clone(&pipe), messages, Arc::clone(&unwritten)));
        PipeWriter {
            pipe: Some(pipe),
            queue,
            unwritten,
            writer,
        }
    }

    /// The future ends when the message is written or queued.
    pub(super) fn send(&mut self, bytes: Vec<u8>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let sent = self.write_or_queue(bytes);
        let queue = self.queue.clone();
        async move {
            match sent? {
                Sent::Done => Ok(()),
                Sent::QueueFull(bytes) => queue.send(bytes).await.map_err(|_closed| closed()),
            }
        }
    }

    /// Closes the server's stdin and drops unwritten messages.
    pub(super) fn close(&mut self) {
        self.writer.abort();
        self.pipe = None;
    }

    fn write_or_queue(&self, mut bytes: Vec<u8>) -> io::Result<Sent> {
        let pipe = self.pipe.as_ref().ok_or_else(closed)?;
        // INVARIANT: a message is written in part only while the queue is empty. So its rest always finds
        // room in the queue, and no other message comes between.
        if self.unwritten.load(Ordering::Acquire) == 0 {
            let written = write_now(pipe, &bytes)?;
            if written == bytes.len() {
                return Ok(Sent::Done);
            }
            bytes.drain(..written);
        }
        self.unwritten.fetch_add(1, Ordering::AcqRel);
        match self.queue.try_send(bytes) {
            Ok(()) => Ok(Sent::Done),
            Err(mpsc::error::TrySendError::Full(bytes)) => Ok(Sent::QueueFull(bytes)),
            Err(mpsc::error::TrySendError::Closed(_)) => Err(closed()),
        }
    }
}

impl Drop for PipeWriter {
    fn drop(&mut self) {
        self.close();
    }
}

enum Sent {
    Done,
    QueueFull(Vec<u8>),
}

async fn write_queued(
    pipe: Arc<pipe::Sender>,
    mut messages: mpsc::Receiver<Vec<u8>>,
    unwritten: Arc<AtomicUsize>,
) {
    while let Some(bytes) = messages.recv().await {
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match write_now(&pipe, rest) {
                Ok(0) => {
                    if pipe.writable().await.is_err() {
                        return;
                    }
                }
                Ok(written) => rest = &rest[written..],
                // The server closed its stdin. Callers that wait for an answer notice its end, or time out.
                Err(_) => return,
            }
        }
        unwritten.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Writes what the pipe takes without waiting.
fn write_now(pipe: &pipe::Sender, bytes: &[u8]) -> io::Result<usize> {
    let mut written = 0;
    while written < bytes.len() {
        match pipe.try_write(&bytes[written..]) {
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}
