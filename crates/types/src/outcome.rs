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
    /// The program raised, exited with another status than zero, or did not parse.
    Failed,
    /// The wall time of the run was over.
    TimedOut,
    /// Another limit ended the run.
    LimitExceeded {
        /// Which one.
        limit: Limit,
    },
    /// The caller cancelled, or the session's host part ended.
    Cancelled,
    /// The run was not started.
    Refused,
}

impl Status {
    /// The status in snake case, without the limit's name.
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
    /// Variables and files are still there.
    Kept,
    /// The guest is gone; the next run of this name starts afresh.
    Lost,
}

/// Captured text of one stream. Bytes that are no UTF-8 arrive as replacement characters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// All of it, or its beginning where the middle was cut.
    pub head: String,
    /// Its end where the middle was cut.
    pub tail: String,
    /// Bytes that were cut between them; 0 if nothing was.
    pub cut: u64,
    /// The file that has all that the program itself printed, if there is one: a path as the program sees it.
    pub copy: Option<String>,
}

impl Text {
    /// A text of which nothing was cut.
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

    /// Bytes that were printed.
    pub fn bytes(&self) -> u64 {
        (self.head.len() + self.tail.len()) as u64 + self.cut
    }

    /// The text to read, with a line in place of what was cut: how much it was, and where all of it is.
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

/// An error as the guest reports it: untrusted text, for the model to read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestError {
    /// Class name of the exception, or a name of ours such as `SandboxLost`.
    pub kind: String,
    /// One line, without the class name.
    pub message: String,
    /// The user's own lines of the traceback; empty where there are none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub traceback: String,
    /// The status with which the program ended itself, if that is what it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<u8>,
}

/// What a run used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// From the first byte sent to the last byte received.
    pub wall: Duration,
    /// CPU time of all processes of the session during the run; `None` where it cannot be read.
    pub cpu: Option<Duration>,
    /// Peak memory of the session in bytes; `None` where it cannot be read.
    pub peak_memory: Option<u64>,
    /// Bytes that the session's files hold after the run, as the guest reports them.
    pub bytes_written: Option<u64>,
    /// Host calls made.
    pub host_calls: u32,
}

/// Threads of the program beside the main one. They stand still between runs and act with the rights of whatever run is
/// under way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Threads {
    /// Left behind by earlier runs, when this one began.
    pub before: u32,
    /// There when it ended.
    pub after: u32,
}

/// Everything that is known of a run when it is over.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// The program's result; `None` if it gave none.
    pub result: Option<Value>,
    /// The result stays in the session, whole; where it was too large to be sent, `result` is `None`.
    pub kept: Option<Kept>,
    /// Standard output; what arrived before an abrupt end is kept.
    pub stdout: Text,
    /// Standard error.
    pub stderr: Text,
    /// Present exactly if `status` is not `Completed`.
    pub error: Option<GuestError>,
    /// What this run shows beside text.
    pub content: Vec<Content>,
    /// What tools gave beside text and the program did not use, a line a result, as the guest says it.
    pub unused: Vec<String>,
    /// Files that this run made or changed.
    pub files: Vec<WrittenFile>,
    /// What remains of the session.
    pub session: SessionFate,
    /// What it used.
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

    /// Names below `/results` that this run made or changed.
    pub fn artifacts(&self) -> Vec<&str> {
        self.files
            .iter()
            .filter_map(WrittenFile::name_in_results)
            .collect()
    }
}
