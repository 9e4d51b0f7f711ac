//! Reads the messages of a server: from the pipe of its process, or from the channel of its remote connection.

use std::io;
use std::time::Duration;

use rmcp::model::{ErrorCode, ErrorData};
use tokio::net::unix::pipe;
use tokio::sync::mpsc;

use super::frame::{Frame, JsonRpcResponse};
use super::lines::{Line, LineReader};

/// Reads messages.
#[derive(Debug)]
pub(super) enum MessageReader {
    Pipe(LineReader),
    Channel(mpsc::Receiver<Incoming>),
}

/// One message from a server, or the failure of a request.
#[derive(Debug)]
pub(crate) enum Incoming {
    Line(Line),
    /// This request gets no answer.
    Failed {
        id: i64,
        failure: RequestFailure,
    },
}

/// Why a request to a remote server gets no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestFailure {
    /// The server did not receive the request, and the connection has ended.
    Undelivered,
    /// The server may have received the request.
    Unanswered {
        /// What happened instead.
        cause: String,
        /// Pause before the request may be repeated, zero unless the server has named one; `None` if repeating cannot help.
        again_in: Option<Duration>,
    },
}

impl MessageReader {
    pub(super) fn of_pipe(pipe: pipe::Receiver) -> MessageReader {
        MessageReader::Pipe(LineReader::new(pipe))
    }

    /// The next message; `None` at the end. Safe to cancel.
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
