//! The state of a server, for display.

use upstream_wire::Era;

/// The state of one server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerState {
    /// Name in the configuration.
    pub name: String,
    /// Whether the server runs.
    pub status: Status,
    /// `stdio`, `http` or `sse`.
    pub transport: &'static str,
    /// Listed tools; `None` while the list is unknown.
    pub tools: Option<usize>,
    /// Calls since the server was defined.
    pub calls: u64,
    /// The last error; a successful restart does not clear it.
    pub last_error: Option<String>,
    /// When the server last answered or failed to; milliseconds since 1970.
    pub checked_ms: Option<i64>,
    /// Process id, while the process runs.
    pub pid: Option<u32>,
    /// Era of the protocol, once known.
    pub era: Option<Era>,
    /// Warnings, oldest first.
    pub warnings: Vec<String>,
    /// Requests that are pending or queued.
    pub under_way: usize,
}

/// Whether a server runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Status {
    /// Not started yet, or stopped until the next call.
    #[default]
    Idle,
    /// The server is being started.
    Starting,
    /// The server accepts calls.
    Running,
    /// Several calls in a row failed. Further calls fail at once until a trial call succeeds.
    Suspended {
        /// The last failure.
        cause: String,
    },
    /// A person has to log in.
    NeedsLogin {
        /// The server's reason, and the command that logs in.
        cause: String,
    },
    /// The server did not start, or ended by itself.
    Failed {
        /// The error of the start, or how the server ended.
        cause: String,
    },
}
