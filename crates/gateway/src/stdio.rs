//! JSON-RPC over a pair of byte streams, with one message per line.

use std::io::{self, Read, Write};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

use crate::lines::{Line, LineBuffer, MAX_LINE};
use crate::pipes::{Outgoing, Pipes};

const READ_BYTES: usize = 64 * 1024;

impl Pipes {
    /// Standard input and output, each on its own thread, so that a blocked read or write delays neither the runtime
    /// nor the end of the process.
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
        // The receiver is gone if the connection has already ended.
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
        // The receiver is gone if the connection has already ended.
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

/// Logs that the client stopped reading. The client may still send, so its calls run until it closes the other side
/// too.
fn closed(error: &io::Error) {
    tracing::warn!(%error, "the client has closed its side; answers are dropped from now on");
}
