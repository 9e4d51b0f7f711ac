//! The control protocol: one JSON object a line, each with the protocol version.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use upstream::ServerState;
use upstream_wire::Era;

/// Version of the protocol. A new field keeps the version; a changed meaning raises it.
pub(super) const VERSION: u32 = 1;

/// In bytes.
pub(super) const LONGEST_QUESTION: usize = 4 * 1024;

/// A question: `{"codeyard": 1, "ask": "status"}`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Question {
    /// Version of the protocol.
    pub(super) codeyard: u32,
    pub(super) ask: Ask,
}

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

/// A serving process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Process id.
    pub pid: u32,
    /// Version of codeyard.
    pub version: String,
    /// Surface that the client sees.
    pub surface: String,
    /// Start of serving, in milliseconds since 1970.
    pub since_ms: u64,
    /// The client's own name, once sent.
    pub client: Option<String>,
    /// Open sessions.
    pub sessions: usize,
    /// Accepted runs since the start.
    pub runs: u64,
    /// Defined servers.
    pub servers: usize,
    /// Running servers.
    pub servers_running: usize,
    /// Where the servers are defined.
    pub configuration: Configuration,
}

/// Where the servers of a process are defined.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    /// Watched files, which may be missing.
    pub files: Vec<PathBuf>,
    /// The error in the configuration files, if any; the servers stay those of the last valid state.
    pub broken: Option<String>,
    /// File, field and variable of each server that is left out because the variable is unset.
    #[serde(default)]
    pub left_out: Vec<String>,
}

/// State of a server; later variants count as more alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// Not started yet, or stopped until the next call.
    Idle,
    /// The last start failed, or the server ended by itself.
    Failed,
    /// Consecutive calls failed, so calls are refused for a while.
    Suspended,
    /// A person has to log in first.
    NeedsLogin,
    /// Being started.
    Starting,
    /// Ready for calls.
    Running,
}

/// One server of one process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerReport {
    /// Name in the configuration.
    pub name: String,
    /// Transport.
    pub transport: String,
    /// State.
    pub state: Activity,
    /// `legacy` or `modern`, once known.
    pub era: Option<Era>,
    /// Number of tools, once known.
    pub tools: Option<usize>,
    /// Process id, while running.
    pub pid: Option<u32>,
    /// Calls of its tools since it was defined.
    pub calls: u64,
    /// The latest error.
    pub last_error: Option<String>,
}

// === impl Activity ===

impl Activity {
    /// A word for people.
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
