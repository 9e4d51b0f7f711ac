//! The result of a `shell_exec` run, with its tool calls.

use std::time::{Duration, SystemTime};

use types::{Outcome, RunId};

/// A finished run of a program or a command line.
#[derive(Debug, Clone)]
pub struct MetaToolRun {
    /// Handle of the run.
    pub run_id: RunId,
    /// How the run ended.
    pub outcome: Outcome,
    /// Tool calls of the program.
    pub calls: MadeCalls,
    /// The exceeded limit on the run's files, if any.
    pub blocked: Option<String>,
    /// Further notes for the client.
    pub notes: Vec<String>,
}

/// A run's tool calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MadeCalls {
    /// The first calls, in order of their start.
    pub listed: Vec<MadeCall>,
    /// Durations of all calls.
    pub latencies: Vec<Duration>,
    /// Number of calls that failed.
    pub failed: usize,
}

/// One tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeCall {
    /// `server/tool`.
    pub name: String,
    /// When the call began.
    pub started_at: SystemTime,
    /// How long it took.
    pub latency: Duration,
    /// Why it failed; `None` if it succeeded.
    pub error: Option<String>,
}
