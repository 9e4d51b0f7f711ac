//! The outcome of a run: a failing program is an outcome, never an `Err`.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::numbers::grouped;
use crate::{Content, Kept, Limit, WrittenFile};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The program ran to its end.
    Completed,
    /// The program raised, exited with a status other than zero, or did not parse.
    Failed,
    /// The run's wall time was over.
    TimedOut,
    /// Another limit ended the run.
    LimitExceeded {
        /// The limit that was exceeded.
        limit: Limit,
    },
    /// The caller cancelled, or the session's host part ended.
    Cancelled,
    /// The run was not started.
    Refused,
}

impl Status {
    /// In snake case, without the limit's name.
    pub fn name(self) -> &'static str {
        match self {
            Status::Completed => "completed",
            Status::Failed => "failed",
            Status::TimedOut => "timed_out",
            Status::LimitExceeded { .. } => "limit_exceeded",
            Status::Cancelled => "cancelled",
            Status::Refused => "refused",
        }
    }
}

/// What remains of the session after a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionFate {
    /// Variables and files remain.
    Kept,
    /// The guest has ended; the next run of this name starts afresh.
    Lost,
}

/// Captured text of one stream. Bytes that are not UTF-8 become replacement characters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// The whole text, or its beginning if the middle was cut.
    pub head: String,
    /// The end, if the middle was cut.
    pub tail: String,
    /// Bytes cut from the middle; 0 if none.
    pub cut: u64,
    /// Path, as the program sees it, of a file with the program's whole output, if there is one.
    pub copy: Option<String>,
}

impl Text {
    /// A text without a cut.
    pub fn whole(text: impl Into<String>) -> Text {
        Text {
            head: text.into(),
            ..Text::default()
        }
    }

    /// Whether nothing was printed.
    pub fn is_empty(&self) -> bool {
        self.bytes() == 0
    }

    /// Printed bytes, including those cut.
    pub fn bytes(&self) -> u64 {
        (self.head.len() + self.tail.len()) as u64 + self.cut
    }

    /// The text for reading. A line replaces the cut: how much is missing, and where all of it is.
    pub fn shown(&self) -> Cow<'_, str> {
        if self.cut == 0 {
            return Cow::Borrowed(&self.head);
        }
        let whole = match &self.copy {
            Some(copy) => format!("all of it: {copy}"),
            None => "no file has them".to_owned(),
        };
        let parted = if self.head.is_empty() || self.head.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        let cut = grouped(self.cut);
        Cow::Owned(format!(
            "{}{parted}[{cut} bytes cut here; {whole}]\n{}",
            self.head, self.tail
        ))
    }
}

/// An error as the guest reports it: untrusted text for the model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestError {
    /// The exception's class, or a name of ours such as `SandboxLost`.
    pub kind: String,
    /// One line, without the class name.
    pub message: String,
    /// The traceback's lines in the user's code; empty without any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub traceback: String,
    /// The exit status, if the program ended itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<u8>,
}

/// The resources that a run used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// From the first byte sent to the last byte received.
    pub wall: Duration,
    /// Over all processes of the session during the run; `None` if it cannot be read.
    pub cpu: Option<Duration>,
    /// Of the session, in bytes; `None` if it cannot be read.
    pub peak_memory: Option<u64>,
    /// Bytes in the session's files after the run, as the guest reports them.
    pub bytes_written: Option<u64>,
    /// Host calls made.
    pub host_calls: u32,
}

/// Threads of the program beside the main one. They pause between runs, and have the rights of the current
/// run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Threads {
    /// Left by earlier runs, when this run began.
    pub before: u32,
    /// When the run ended.
    pub after: u32,
}

/// Everything known about a run after its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// How the run ended.
    pub status: Status,
    /// `None` if the program returned nothing.
    pub result: Option<Value>,
    /// Describes a result that stays in the session; if it was too large to send, `result` is `None`.
    pub kept: Option<Kept>,
    /// Standard output, even what arrived before an abrupt end.
    pub stdout: Text,
    /// Standard error.
    pub stderr: Text,
    /// Present exactly if `status` is not `Completed`.
    pub error: Option<GuestError>,
    /// Images and other content beside text.
    pub content: Vec<Content>,
    /// Content of tools, beside text, that the program did not use: one line per result, as the guest writes
    /// it.
    pub unused: Vec<String>,
    /// Files that this run made or changed.
    pub files: Vec<WrittenFile>,
    /// What remains of the session.
    pub session: SessionFate,
    /// Resources used.
    pub usage: Usage,
    /// Threads that outlive runs.
    pub threads: Threads,
}

impl Outcome {
    /// An outcome without output, for a run that ended before or outside the guest.
    pub fn bare(status: Status, session: SessionFate, error: Option<GuestError>) -> Self {
        Self {
            status,
            result: None,
            kept: None,
            stdout: Text::default(),
            stderr: Text::default(),
            error,
            content: Vec::new(),
            unused: Vec::new(),
            files: Vec::new(),
            session,
            usage: Usage::default(),
            threads: Threads::default(),
        }
    }

    /// Paths below `/results` that this run made or changed.
    pub fn artifacts(&self) -> Vec<&str> {
        self.files
            .iter()
            .filter_map(WrittenFile::name_in_results)
            .collect()
    }
}
