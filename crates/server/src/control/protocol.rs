//! What is said over a control socket: one JSON object a line, each with the version of this protocol.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use upstream::ServerState;
use upstream_wire::Era;

/// The version. Fields may be added to it; what changes a meaning is another version.
pub(super) const VERSION: u32 = 1;

/// Longest question.
pub(super) const LONGEST_QUESTION: usize = 4 * 1024;

/// A question: `{"codeyard": 1, "ask": "status"}`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Question {
    /// The version.
    pub(super) codeyard: u32,
    pub(super) ask: Ask,
}

/// What can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Ask {
    Status,
    Servers,
}

/// An answer: `{"codeyard": 1, "answer": …}` or `{"codeyard": 1, "error": "…"}`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Reply<T> {
    pub(super) codeyard: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

/// One process that serves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Its number.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// What its client sees.
    pub surface: String,
    /// When it began to serve, in milliseconds since 1970.
    pub since_ms: u64,
    /// What the client calls itself, once it has said so.
    pub client: Option<String>,
    /// Sessions that are open.
    pub sessions: usize,
    /// Runs that were accepted since it began.
    pub runs: u64,
    /// Servers that are defined.
    pub servers: usize,
    /// Servers that run.
    pub servers_running: usize,
    /// Where its servers are defined.
    pub configuration: Configuration,
}

/// Where the servers of a process are defined.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    /// The files that are looked at; they need not be there.
    pub files: Vec<PathBuf>,
    /// What is wrong with them now; the servers are those of the last good state then.
    pub broken: Option<String>,
    /// Servers that it does without because a variable that they refer to is not set there: file, field and variable.
    #[serde(default)]
    pub left_out: Vec<String>,
}

/// Whether a server runs; what is further on is more alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// Not started yet, or ended until the next call.
    Idle,
    /// Its last start failed, or it ended by itself.
    Failed,
    /// Calls of it failed one after the other, so further ones are refused for a while.
    Suspended,
    /// A person has to log in to it first.
    NeedsLogin,
    /// On its way.
    Starting,
    /// Ready for calls.
    Running,
}

/// One server of one process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerReport {
    /// Its name in the configuration.
    pub name: String,
    /// How it is reached.
    pub transport: String,
    /// Whether it runs.
    pub state: Activity,
    /// `legacy` or `modern`, once known.
    pub era: Option<Era>,
    /// Number of its tools, once known.
    pub tools: Option<usize>,
    /// Its process, while it runs.
    pub pid: Option<u32>,
    /// Calls of its tools since it was defined.
    pub calls: u64,
    /// What went wrong last.
    pub last_error: Option<String>,
}

// === impl Activity ===

impl Activity {
    /// In a word, for people.
    pub fn name(self) -> &'static str {
        match self {
            Activity::Idle => "idle",
            Activity::Failed => "failed",
            Activity::Suspended => "suspended",
            Activity::NeedsLogin => "needs login",
            Activity::Starting => "starting",
            Activity::Running => "running",
        }
    }
}

// === impl ServerReport ===

impl From<ServerState> for ServerReport {
    fn from(state: ServerState) -> Self {
        let (activity, cause) = match state.status {
            upstream::Status::Idle => (Activity::Idle, None),
            upstream::Status::Starting => (Activity::Starting, None),
            upstream::Status::Running => (Activity::Running, None),
            upstream::Status::Suspended { cause } => (Activity::Suspended, Some(cause)),
            upstream::Status::NeedsLogin { cause } => (Activity::NeedsLogin, Some(cause)),
            upstream::Status::Failed { cause } => (Activity::Failed, Some(cause)),
        };
        Self {
            name: state.name,
            transport: state.transport.to_owned(),
            state: activity,
            last_error: state.last_error.or(cause),
            era: state.era,
            tools: state.tools,
            pid: state.pid,
            calls: state.calls,
        }
    }
}
