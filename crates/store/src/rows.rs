//! The rows that callers record.

use std::sync::Arc;
use std::time::Duration;

use accounting::RecordedReceipt;
use sha2::{Digest, Sha256};
use types::{Limits, Outcome, Principal, RunId, ServerId, SessionFate, Status};

use crate::arguments::{Arguments, hex};
use crate::config::ExecutionDetail;
use crate::execution::Execution;

/// Longest recorded foreign name or kind, in bytes; longer ones are truncated.
const MAX_NAME: usize = 128;

/// Event kind: a result differs from its known shape.
pub(crate) const DRIFT: &str = "result_drift";

/// Event kind: a run was not started.
pub const RUN_REFUSED: &str = "run_refused";

/// Event kind: a request on a session's files was denied.
pub const FILE_DENIED: &str = "file_denied";

/// Event kind: the task that caused a run.
pub(crate) const TASK: &str = "task";

/// An attempt to run a program, as known at its start.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// Handle of the run.
    pub run: RunId,
    /// The principal of the request.
    pub principal: Principal,
    /// The gateway's virtual server; `None` for runs of other origins.
    pub server: Option<ServerId>,
    /// Origin of the attempt.
    pub front: Front,
    /// Name of the language; `None` for a call from the command line.
    pub language: Option<&'static str>,
    /// The program; `None` for a call from the command line.
    pub code: Option<Code>,
    /// The limits; `None` if undecided.
    pub limits: Option<Limits>,
    /// Kind of the sandbox.
    pub backend: &'static str,
    /// The client's own name; `None` until the client sends it.
    pub client: Option<String>,
    /// The model's searches since the previous run.
    pub searched: Searched,
}

/// Searches for tools between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Searched {
    /// Number of searches.
    pub searches: u64,
    /// Bytes of queries and answers.
    pub bytes: u64,
}

/// Origin of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Front {
    /// A client over MCP.
    Mcp,
    /// `codeyard run`.
    Run,
    /// `codeyard call`.
    Call,
    /// `codeyard task`.
    Task,
}

/// A program in the records: its hash and length, and its text only for execution logs that ask for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    pub(crate) hash: String,
    pub(crate) bytes: u64,
    pub(crate) text: Option<String>,
}

/// Why an attempt was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The request is invalid, or requests more than the policy grants.
    Arguments,
    /// The session's queue is full.
    QueueFull,
    /// Too many busy sessions.
    TooManySessions,
    /// The host is ending.
    Closing,
    /// The machine cannot provide the required sandbox.
    Sandbox,
    /// The sandbox could not be started.
    Launch,
    /// The user has reached the virtual server's rate limit.
    RateLimit,
    /// The user or the tenant has used up a quota of CPU time.
    CpuQuota,
    /// A required record could not be written.
    NotRecorded,
    /// The host failed.
    Inside,
}

/// A finished tool call.
#[derive(Debug, Clone)]
pub struct CallMade {
    /// Name of the server; if it was not resolved, the name in the request.
    pub server: String,
    /// Name of the tool; if it was not resolved, the name in the request.
    pub tool: String,
    /// Its arguments.
    pub arguments: Arguments,
    /// Time from request to response.
    pub duration: Duration,
    /// `answered`, `in_sandbox` (a tool file), `tool_error`, `cancelled`, or the kind of the failure.
    pub outcome: String,
    /// Length of the answer in bytes.
    pub result_bytes: Option<u64>,
}

#[derive(Debug)]
pub(crate) enum Row {
    Begun(Arc<Run>),
    Ended(Arc<Run>, Box<Ended>),
    Call(Box<Call>),
    Opened(Arc<Session>),
    Closed(Arc<Session>, Closing),
    Event(Event),
    Receipt(RunId, Box<RecordedReceipt>),
    /// The recording of a run, sealed and in base64.
    Recording(RunId, String),
}

/// A run when it is accepted or refused.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) attempt: Arc<Attempt>,
    pub(crate) session: Option<String>,
    pub(crate) asked_ms: i64,
}

/// A run's end. Sizes in bytes, durations in microseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ended {
    pub(crate) at_ms: i64,
    pub(crate) life: Option<i64>,
    pub(crate) mode: Option<&'static str>,
    pub(crate) waited_us: Option<i64>,
    pub(crate) duration_us: Option<i64>,
    pub(crate) status: &'static str,
    pub(crate) limit: Option<&'static str>,
    pub(crate) error_kind: Option<String>,
    pub(crate) session_fate: Option<&'static str>,
    pub(crate) result_bytes: Option<i64>,
    pub(crate) stdout_bytes: Option<i64>,
    pub(crate) stderr_bytes: Option<i64>,
    pub(crate) host_calls: Option<i64>,
    pub(crate) cpu_us: Option<i64>,
    pub(crate) peak_memory: Option<i64>,
    pub(crate) earlier_threads: Option<i64>,
    pub(crate) execution: Option<Execution>,
}

#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) run: RunId,
    pub(crate) begun_ms: i64,
    pub(crate) made: CallMade,
}

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) life: i64,
    pub(crate) name: String,
    pub(crate) principal: String,
    pub(crate) language: &'static str,
    pub(crate) backend: &'static str,
    pub(crate) mode: Option<&'static str>,
    pub(crate) opened_by: RunId,
    pub(crate) opened_ms: i64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Closing {
    pub(crate) at_ms: i64,
    pub(crate) ending: &'static str,
}

#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) run: Option<RunId>,
    pub(crate) at_ms: i64,
    pub(crate) kind: &'static str,
    pub(crate) detail: String,
}

/// A change to saved tools or memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// A tool was saved.
    ToolSaved,
    /// A tool was removed.
    ToolRemoved,
    /// A memory was saved.
    MemorySaved,
    /// A memory was removed.
    MemoryRemoved,
}

// === impl Front ===

impl Front {
    /// The word in the records.
    pub fn name(self) -> &'static str {
        match self {
            Front::Mcp => "mcp",
            Front::Run => "run",
            Front::Call => "call",
            Front::Task => "task",
        }
    }
}

// === impl Code ===

impl Code {
    /// The program with this source text.
    pub fn of(text: &str, detail: ExecutionDetail) -> Code {
        Code {
            hash: hex(&Sha256::digest(text)),
            bytes: text.len() as u64,
            text: Execution::code(text, detail),
        }
    }
}

// === impl Refused ===

impl Refused {
    /// The word in the records.
    pub fn name(self) -> &'static str {
        match self {
            Refused::Arguments => "arguments",
            Refused::QueueFull => "queue_full",
            Refused::TooManySessions => "too_many_sessions",
            Refused::Closing => "closing",
            Refused::Sandbox => "sandbox",
            Refused::Launch => "launch",
            Refused::RateLimit => "rate_limit",
            Refused::CpuQuota => "cpu_quota",
            Refused::NotRecorded => "not_recorded",
            Refused::Inside => "inside",
        }
    }
}

// === impl Change ===

impl Change {
    /// The word in the records.
    pub fn name(self) -> &'static str {
        match self {
            Change::ToolSaved => "tool_saved",
            Change::ToolRemoved => "tool_removed",
            Change::MemorySaved => "memory_saved",
            Change::MemoryRemoved => "memory_removed",
        }
    }
}

// === impl Row ===

impl Row {
    /// Approximate bytes in memory.
    pub(crate) fn weight(&self) -> usize {
        512 + match self {
            Row::Call(call) => call.made.arguments.weight(),
            Row::Begun(run) => run.code_weight(),
            Row::Ended(run, ended) => {
                run.code_weight() + ended.execution.as_ref().map_or(0, Execution::weight)
            }
            Row::Recording(_, sealed) => sealed.len(),
            _ => 0,
        }
    }

    /// The time that decides retention, in milliseconds since 1970. `None` for a row that is removed with its run or
    /// by another rule.
    pub(crate) fn time_ms(&self) -> Option<i64> {
        match self {
            Row::Begun(run) | Row::Ended(run, _) => Some(run.asked_ms),
            Row::Call(call) => Some(call.begun_ms),
            Row::Event(event) => Some(event.at_ms),
            Row::Opened(_) | Row::Closed(..) | Row::Receipt(..) | Row::Recording(..) => None,
        }
    }
}

// === impl Run ===

impl Run {
    fn code_weight(&self) -> usize {
        let text = self.attempt.code.as_ref().and_then(|code| code.text.as_ref());
        text.map_or(0, String::len)
    }
}

// === impl Ended ===

impl Ended {
    pub(crate) fn refused(why: Refused, at_ms: i64) -> Ended {
        Ended {
            at_ms,
            status: Status::Refused.name(),
            error_kind: Some(why.name().to_owned()),
            ..Ended::default()
        }
    }

    /// The record of an outcome: never its text, except the message of an error for execution logs that ask for it.
    pub(crate) fn of(outcome: &Outcome, detail: ExecutionDetail, at_ms: i64) -> Ended {
        let usage = &outcome.usage;
        Ended {
            at_ms,
            status: outcome.status.name(),
            limit: match outcome.status {
                Status::LimitExceeded { limit } => Some(limit.name()),
                _ => None,
            },
            error_kind: outcome.error.as_ref().map(|error| cut(&error.kind)),
            session_fate: Some(match outcome.session {
                SessionFate::Kept => "kept",
                SessionFate::Lost => "lost",
            }),
            result_bytes: outcome.result.as_ref().map(|result| number(length(result))),
            stdout_bytes: Some(number(outcome.stdout.bytes())),
            stderr_bytes: Some(number(outcome.stderr.bytes())),
            host_calls: Some(i64::from(usage.host_calls)),
            cpu_us: usage.cpu.map(crate::clock::micros),
            peak_memory: usage.peak_memory.map(number),
            earlier_threads: (outcome.threads.before > 0).then(|| i64::from(outcome.threads.before)),
            execution: Execution::of(outcome, detail),
            ..Ended::default()
        }
    }
}

/// Truncates a foreign name to the recorded length.
pub(crate) fn cut(name: &str) -> String {
    cut_to(name, MAX_NAME)
}

/// At most the first `most` bytes.
pub(crate) fn cut_to(text: &str, most: usize) -> String {
    text[..text.floor_char_boundary(most)].to_owned()
}

/// Converts for SQL, which has no unsigned integers.
pub(crate) fn number(unsigned: u64) -> i64 {
    i64::try_from(unsigned).unwrap_or(i64::MAX)
}

/// Bytes as compact JSON.
fn length(value: &serde_json::Value) -> u64 {
    struct Counter(u64);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Counting cannot fail.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}
