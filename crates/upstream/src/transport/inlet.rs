//! Where the messages of a server come from: the pipe of its process, or what its remote adapter hands over.

use std::io;
use std::time::Duration;

use rmcp::model::{ErrorCode, ErrorData};
use tokio::net::unix::pipe;
use tokio::sync::mpsc;

use super::frame::{Answer, Frame};
use super::lines::{Line, Lines};

/// Source of messages.
#[derive(Debug)]
pub(super) enum Inlet {
    Pipe(Lines),
    Channel(mpsc::Receiver<Incoming>),
}

/// What comes from a server.
#[derive(Debug)]
pub(crate) enum Incoming {
    Line(Line),
    /// There will be no answer to this request.
    Failed {
        id: i64,
        failure: Failure,
    },
}

/// Why a request to a remote server has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The server cannot have acted on it, and this connection to it is over.
    Undelivered,
    /// Anything else.
    Unanswered {
        cause: String,
        /// When the same request may be answered, if it may at all: zero unless the server has said.
        again_in: Option<Duration>,
    },
}

impl Inlet {
    pub(super) fn of_pipe(pipe: pipe::Receiver) -> Inlet {
        Inlet::Pipe(Lines::new(pipe))
    }

    /// The next message; `None` at the end. Safe to cancel.
    pub(super) async fn next(&mut self) -> io::Result<Option<Incoming>> {
        match self {
            Inlet::Pipe(lines) => Ok(lines.next().await?.map(Incoming::Line)),
            Inlet::Channel(messages) => Ok(messages.recv().await),
        }
    }
}

impl Failure {
    /// The failure as an answer, for the handshake, which has no other use for it.
    pub(super) fn into_frame(self, id: i64) -> Frame {
        let cause = match self {
            Failure::Undelivered => "the connection was lost".to_owned(),
            Failure::Unanswered { cause, .. } => cause,
        };
        Frame::Answer(Answer {
            id: Some(id),
            outcome: Err(ErrorData::new(ErrorCode::INTERNAL_ERROR, cause, None)),
        })
    }
}
