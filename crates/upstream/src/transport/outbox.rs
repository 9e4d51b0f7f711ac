//! Hands messages to a server in order: to the pipe of its process, or to its remote adapter.

mod pipe;

use std::future::Future;
use std::io;

use futures_util::future::Either;
use tokio::net::unix::pipe::Sender;
use tokio::sync::mpsc;

use pipe::PipeOutbox;

/// The way to a server.
#[derive(Debug)]
pub(super) enum Outbox {
    Pipe(PipeOutbox),
    /// `None` once closed.
    Channel(Option<mpsc::Sender<Vec<u8>>>),
}

impl Outbox {
    pub(super) fn of_pipe(pipe: Sender) -> Outbox {
        Outbox::Pipe(PipeOutbox::new(pipe))
    }

    pub(super) fn of_channel(channel: mpsc::Sender<Vec<u8>>) -> Outbox {
        Outbox::Channel(Some(channel))
    }

    /// Hands over one message; the future ends when it is written or queued.
    pub(super) fn send(&mut self, bytes: Vec<u8>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        match self {
            Outbox::Pipe(pipe) => Either::Left(pipe.send(bytes)),
            Outbox::Channel(channel) => {
                let channel = channel.clone();
                Either::Right(async move {
                    let channel = channel.ok_or_else(closed)?;
                    channel.send(bytes).await.map_err(|_closed| closed())
                })
            }
        }
    }

    /// Closes the way to the server, whatever is still unwritten.
    pub(super) fn close(&mut self) {
        match self {
            Outbox::Pipe(pipe) => pipe.close(),
            Outbox::Channel(channel) => *channel = None,
        }
    }
}

fn closed() -> io::Error {
    io::Error::from(io::ErrorKind::BrokenPipe)
}
