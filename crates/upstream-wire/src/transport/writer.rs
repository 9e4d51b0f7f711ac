//! Sends messages to a server in order: to its process's pipe, or to its remote connection's channel.

mod pipe;

use std::future::Future;
use std::io;

use futures_util::future::Either;
use tokio::net::unix::pipe::Sender;
use tokio::sync::mpsc;

use pipe::PipeWriter;

#[derive(Debug)]
pub(super) enum MessageWriter {
    Pipe(PipeWriter),
    /// `None` once closed.
    Channel(Option<mpsc::Sender<Vec<u8>>>),
}

impl MessageWriter {
    pub(super) fn of_pipe(pipe: Sender) -> MessageWriter {
        MessageWriter::Pipe(PipeWriter::new(pipe))
    }

    pub(super) fn of_channel(channel: mpsc::Sender<Vec<u8>>) -> MessageWriter {
        MessageWriter::Channel(Some(channel))
    }

    /// The future ends when the message is written or queued.
    pub(super) fn send(&mut self, bytes: Vec<u8>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        match self {
            MessageWriter::Pipe(pipe) => Either::Left(pipe.send(bytes)),
            MessageWriter::Channel(channel) => {
                let channel = channel.clone();
                Either::Right(async move {
                    let channel = channel.ok_or_else(closed)?;
                    channel.send(bytes).await.map_err(|_closed| closed())
                })
            }
        }
    }

    /// Unwritten messages are dropped.
    pub(super) fn close(&mut self) {
        match self {
            MessageWriter::Pipe(pipe) => pipe.close(),
            MessageWriter::Channel(channel) => *channel = None,
        }
    }
}

fn closed() -> io::Error {
    io::Error::from(io::ErrorKind::BrokenPipe)
}
