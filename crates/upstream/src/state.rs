//! The state of a server, for people.

use upstream_wire::Era;

/// The state of one server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerState {
    /// The server's name in the configuration.
    pub name: String,
    /// Whether the server runs.
    pub status: Status,
    /// Name of the transport: `stdio`, `http` or `sse`.
    pub transport: &'static str,
    /// Number of tools; `None` while the list is unknown.
    pub tools: Option<usize>,
    /// Calls of tools since the server was defined.
    pub calls: u64,
    /// The last error, also if the server runs again.
    pub last_error: Option<String>,
    /// Process id while the server runs.
    pub pid: Option<u32>,
    /// The lifecycle that the server speaks, once it is known.
    pub era: Option<Era>,
    /// The last warnings about the server, oldest first.
    pub warnings: Vec<String>,
    /// Requests that are pending or wait for their turn.
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
    /// The server takes calls.
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
        /// What happened.
        cause: String,
    },
}
