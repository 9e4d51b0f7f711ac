//! A record as sinks send it.

use crate::audit::AuditRow;
use crate::execution::Execution;
use crate::reader::RunView;

/// One record.
#[derive(Debug, Clone, PartialEq)]
pub enum SentRecord {
    /// The end of a run, or a refused run.
    Run(Box<SentRun>),
    /// A call of a tool.
    Call(Box<SentCall>),
    /// A refusal, a limit, a loss.
    Event(Box<SentEvent>),
    /// An administrative change, or a refused attempt at one.
    Audit(Box<AuditRow>),
}

/// The end of a run, with what execution logs say of it.
#[derive(Debug, Clone, PartialEq)]
pub struct SentRun {
    /// The run's record.
    pub run: RunView,
    /// `None` unless it was recorded.
    pub execution: Option<Execution>,
    /// The tools that it called, if `execution` was recorded.
    pub called: Vec<CalledTool>,
}

/// A tool that a run called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalledTool {
    /// Name of the upstream server.
    pub server: String,
    /// Name of the tool.
    pub tool: String,
    /// Number of calls, failed ones included.
    pub calls: i64,
}

/// A call of a tool, with its run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentCall {
    /// Unique in the database.
    pub id: String,
    /// Start, in milliseconds since 1970.
    pub at_ms: i64,
    /// Name of the upstream server.
    pub server: String,
    /// Name of the tool.
    pub tool: String,
    /// `answered`, `in_sandbox`, `tool_error`, `cancelled`, or the kind of the failure.
    pub outcome: String,
    /// In microseconds.
    pub duration_us: i64,
    /// Length of the arguments as JSON.
    pub arguments_bytes: i64,
    /// Length of the answer.
    pub result_bytes: Option<i64>,
    /// The arguments as JSON, truncated; `None` unless recorded and requested.
    pub arguments: Option<String>,
    /// The run's handle.
    pub run: String,
    /// The principal that requested the run; `None` if retention has removed the run.
    pub principal: Option<String>,
    /// Name of the run's session.
    pub session: Option<String>,
    /// The virtual server.
    pub virtual_server: Option<String>,
}

/// An event, with its run if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentEvent {
    /// Unique in the database.
    pub id: String,
    /// In milliseconds since 1970.
    pub at_ms: i64,
    /// Kind as in the records, such as `run_refused`.
    pub kind: String,
    /// Text for people; `None` for the words of a task, unless payloads are requested.
    pub detail: Option<String>,
    /// The run's handle.
    pub run: Option<String>,
    /// The principal that requested the run.
    pub principal: Option<String>,
    /// Name of the run's session.
    pub session: Option<String>,
    /// The virtual server.
    pub virtual_server: Option<String>,
}
