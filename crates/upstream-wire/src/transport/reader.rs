//! Reads a server's messages: from its process's pipe, or from its remote connection's channel.

use std::io;
use std::time::Duration;

use rmcp::model::{ErrorCode, ErrorData};
use tokio::net::unix::pipe;
use tokio::sync::mpsc;

use super::frame::{Frame, JsonRpcResponse};
use super::lines::{Line, LineReader};

#[derive(Debug)]
pub(super) enum MessageReader {
    Pipe(LineReader),
    Channel(mpsc::Receiver<Incoming>),
}

#[derive(Debug)]
pub(crate) enum Incoming {
    Line(Line),
    /// The request gets no answer.
    Failed {
        id: i64,
        failure: RequestFailure,
    },
}

/// Why a request gets no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestFailure {
    /// The server did not receive the request, and the connection has ended.
    Undelivered,
    /// The server may have received the request.
    Unanswered {
        /// What happened instead.
        cause: String,
        /// Pause before the request may be repeated: zero unless the server named one; `None` if repeating
        /// cannot help.
        again_in: Option<Duration>,
    },
}

impl MessageReader {
    pub(super) fn of_pipe(pipe: pipe::Receiver) -> MessageReader {
        MessageReader::Pipe(LineReader::new(pipe))
    }

    /// `None` at the end. Safe to cancel.
    pub(super) async fn next(&mut self) -> io::Result<Option<Incoming>> {
        match self {
            MessageReader::Pipe(lines) => Ok(lines.next().await?.map(Incoming::Line)),
            MessageReader::Channel(messages) => Ok(messages.recv().await),
        }
    }
}

impl RequestFailure {
    /// The failure as an error answer, for the handshake.
    pub(super) fn into_frame(self, id: i64) -> Frame {
        let cause = match self {
            RequestFailure::Undelivered => "the connection was lost".to_owned(),
            RequestFailure::Unanswered { cause, .. } => cause,
        };
        Frame::Answer(JsonRpcResponse {
            id: Some(id),
            outcome: Err(ErrorData::new(ErrorCode::INTERNAL_ERROR, cause, None)),
        })
    }
}
