//! Runs, sessions, security events and administrative changes as answers show them.

mod entry;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use entry::AuditView;

/// A run, as `GET /servers/{id}/code/runs` lists it. Never contains program or output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunView {
    /// The run's handle.
    pub id: String,
    /// The virtual server.
    pub server_id: String,
    /// The run's session; null if the run was refused before it had one.
    pub session_id: Option<String>,
    /// The user who requested the run.
    pub user_email: String,
    /// The client's own name, and the agent that acted for the user; absent if the client named neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// `python`, `typescript` or `shell`.
    pub language: String,
    /// SHA-256 of the program, in hexadecimal digits.
    pub code_hash: String,
    /// State of the run.
    pub status: RunStatus,
    /// Measurements; null while the run is active.
    pub metrics: Option<RunMetrics>,
    /// The calls, in order of their start.
    pub tool_calls_made: Vec<ToolCallView>,
    /// The events, in order of time.
    pub security_events: Vec<SecurityEvent>,
    /// Time of the request, as ISO 8601 in UTC.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Start of the program; null if it never started.
    #[schema(format = DateTime)]
    pub started_at: Option<String>,
    /// End of the run; null while the run is active.
    #[schema(format = DateTime)]
    pub finished_at: Option<String>,
}

/// S0-42: the states of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// The run is queued or active.
    Running,
    /// The program ended by itself.
    Completed,
    /// The program ended with an error.
    Failed,
    /// The program was stopped at its time limit.
    TimedOut,
    /// A policy refused the run.
    Blocked,
}

/// S0-20: resource use of a run. Times are milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunMetrics {
    /// The run's handle.
    pub run_id: String,
    /// SHA-256 of the program, in hexadecimal digits.
    pub code_hash: String,
    /// From the program's start to its end.
    pub wall_time_ms: u64,
    /// Null if the machine does not measure CPU time.
    pub cpu_time_ms: Option<u64>,
    /// Number of tool calls.
    pub tool_call_count: u64,
    /// Median of the calls' durations.
    pub tool_latency_p50_ms: u64,
    /// 95th percentile of the calls' durations.
    pub tool_latency_p95_ms: u64,
    /// 99th percentile of the calls' durations.
    pub tool_latency_p99_ms: u64,
    /// Share of failed calls, from 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    pub error_rate: f64,
    /// Bytes of output.
    pub bytes_written: u64,
    /// Bytes of the error.
    pub bytes_error: u64,
}

/// S0-79: what a repeated run produced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayView {
    /// Standard output, and the value of the program.
    pub output: String,
    /// What went wrong; null if nothing did.
    pub error: Option<String>,
    /// What the run used.
    pub metrics: RunMetrics,
    /// Calls of tools, in the order in which they began.
    pub tool_calls_made: Vec<ToolCallView>,
    /// The new run's handle.
    pub run_id: String,
    /// The recorded run's handle.
    pub replayed_from_run_id: String,
}

/// S0-21: one call of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolCallView {
    /// `server/tool`.
    pub name: String,
    /// ISO 8601, in UTC.
    #[schema(format = DateTime)]
    pub started_at: String,
    /// Milliseconds.
    pub latency_ms: u64,
    /// Whether the call succeeded.
    pub success: bool,
    /// The error.
    pub error: Option<String>,
}

/// One refusal or failure in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SecurityEvent {
    /// Kind of the event.
    pub event: SecurityEventKind,
    /// The text that the program received.
    pub message: String,
    /// `server/tool`; null if the event is not about a tool.
    pub tool: Option<String>,
    /// ISO 8601, in UTC.
    #[schema(format = DateTime)]
    pub timestamp: String,
}

/// S0-78: the kinds of security events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SecurityEventKind {
    /// A policy refused the run or one of its files.
    PolicyBlock,
    /// A policy refused a call.
    ToolCallBlocked,
    /// A call failed.
    ToolCallError,
}

/// A security event with its run, as `GET /servers/{id}/code/security-events` lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SecurityEventView {
    /// Kind of the event.
    pub event: SecurityEventKind,
    /// The text that the program received.
    pub message: String,
    /// `server/tool`; null if the event is not about a tool.
    pub tool: Option<String>,
    /// ISO 8601, in UTC.
    #[schema(format = DateTime)]
    pub timestamp: String,
    /// The run's handle.
    pub run_id: String,
    /// The virtual server.
    pub server_id: String,
    /// State of the run.
    pub run_status: RunStatus,
    /// Time of the request, as ISO 8601 in UTC.
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// A live session, as `GET /servers/{id}/code/sessions` lists it. Times are ISO 8601 in UTC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionView {
    /// The session's handle.
    pub session_id: String,
    /// The virtual server.
    pub server_id: String,
    /// The session's owner.
    pub user_email: String,
    /// `python`, `typescript` or `shell`.
    pub language: String,
    /// Time of the session's start.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// End of the last run.
    #[schema(format = DateTime)]
    pub last_used_at: String,
    /// Time when the files below `/tools` were last written.
    #[schema(format = DateTime)]
    pub generated_at: String,
    /// Number of tools that the session mounts.
    pub tool_count: u64,
    /// Number of skills that the session mounts.
    pub skill_count: u64,
}

impl RunStatus {
    /// In the order of the variants.
    pub const ALL: [RunStatus; 5] = [
        RunStatus::Running,
        RunStatus::Completed,
        RunStatus::Failed,
        RunStatus::TimedOut,
        RunStatus::Blocked,
    ];

    /// The word in answers and queries.
    pub fn name(self) -> &'static str {
        match self {
            RunStatus::Running => "running",
            RunStatus::Completed => "completed",
            RunStatus::Failed => "failed",
            RunStatus::TimedOut => "timed_out",
            RunStatus::Blocked => "blocked",
        }
    }
}

impl SecurityEventKind {
    /// In the order of the variants.
    pub const ALL: [SecurityEventKind; 3] = [
        SecurityEventKind::PolicyBlock,
        SecurityEventKind::ToolCallBlocked,
        SecurityEventKind::ToolCallError,
    ];

    /// The word in answers and queries.
    pub fn name(self) -> &'static str {
        match self {
            SecurityEventKind::PolicyBlock => "policy_block",
            SecurityEventKind::ToolCallBlocked => "tool_call_blocked",
            SecurityEventKind::ToolCallError => "tool_call_error",
        }
    }
}
