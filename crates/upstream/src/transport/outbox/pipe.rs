//! Writes messages to a process in order: at once where the pipe has room, else by a task of its own.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::closed;

/// Messages that wait for a server that does not read; senders beyond wait themselves.
const QUEUE: usize = 64;

/// The writing end of a server's stdin.
#[derive(Debug)]
pub(in crate::transport) struct PipeOutbox {
    /// `None` once closed.
    pipe: Option<Arc<pipe::Sender>>,
    queue: mpsc::Sender<Vec<u8>>,
    /// Messages handed to the queue and not written yet. While there are none, the caller writes itself: a message
    /// then costs no change of task.
    unwritten: Arc<AtomicUsize>,
    writer: JoinHandle<()>,
}

impl PipeOutbox {
    pub(super) fn new(pipe: pipe::Sender) -> PipeOutbox {
        let pipe = Arc::new(pipe);
        let unwritten = Arc::new(AtomicUsize::new(0));
        let (queue, messages) = mpsc::channel(QUEUE);
        let writer = tokio::spawn(write_queued(Arc::clone(&pipe), messages, Arc::clone(&unwritten)));
        PipeOutbox {
            pipe: Some(pipe),
            queue,
            unwritten,
            writer,
        }
    }

    /// Hands over one message; the future ends when it is written or queued.
    pub(super) fn send(&mut self, bytes: Vec<u8>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let handed_over = self.write_or_queue(bytes);
        let queue = self.queue.clone();
        async move {
            match handed_over? {
                Handed::Over => Ok(()),
                Handed::Back(bytes) => queue.send(bytes).await.map_err(|_closed| closed()),
            }
        }
    }

    /// Closes the server's stdin, whatever is still unwritten.
    pub(super) fn close(&mut self) {
        self.writer.abort();
        self.pipe = None;
    }

    fn write_or_queue(&self, mut bytes: Vec<u8>) -> io::Result<Handed> {
        let pipe = self.pipe.as_ref().ok_or_else(closed)?;
        // INVARIANT: a rest of a message is only made while the queue is empty, so that it always finds room there and
        // nothing can come between the two parts.
        if self.unwritten.load(Ordering::Acquire) == 0 {
            let written = write_now(pipe, &bytes)?;
            if written == bytes.len() {
                return Ok(Handed::Over);
            }
            bytes.drain(..written);
        }
        self.unwritten.fetch_add(1, Ordering::AcqRel);
        match self.queue.try_send(bytes) {
            Ok(()) => Ok(Handed::Over),
            Err(mpsc::error::TrySendError::Full(bytes)) => Ok(Handed::Back(bytes)),
            Err(mpsc::error::TrySendError::Closed(_)) => Err(closed()),
        }
    }
}

impl Drop for PipeOutbox {
    fn drop(&mut self) {
        self.close();
    }
}

enum Handed {
    Over,
    Back(Vec<u8>),
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
                // The server closed its stdin; its end or its silence is reported to those who wait for an answer.
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
