//! What is recorded, as those who record it say it.

use std::sync::Arc;
use std::time::Duration;

use accounting::RecordedReceipt;
use sha2::{Digest, Sha256};
use types::{Limits, Outcome, Principal, RunId, SessionFate, Status};

use crate::arguments::{Arguments, hex};

/// Longest text of a name or kind that somebody else has chosen, in bytes.
const MAX_NAME: usize = 128;

/// The kind of event of a result that is not as it was.
pub(crate) const DRIFT: &str = "result_drift";

/// The kind of an event that says for which task a run was.
pub(crate) const TASK: &str = "task";

/// One attempt to run a program, as it is known when it is made.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// Handle of the run.
    pub run: RunId,
    /// Who asks.
    pub principal: Principal,
    /// Through which door.
    pub front: Front,
    /// Name of its language; `None` for a call from the command line, which is no program.
    pub language: Option<&'static str>,
    /// Its program.
    pub code: Option<Code>,
    /// What bounds it; `None` if that was not decided.
    pub limits: Option<Limits>,
    /// Name of the kind of sandbox.
    pub backend: &'static str,
    /// What the client calls itself, once it has said so.
    pub client: Option<String>,
    /// What its model has searched for since the run before.
    pub searched: Searched,
}

/// Searches for tools between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Searched {
    /// How many.
    pub searches: u64,
    /// Bytes of what was asked and of what was answered.
    pub bytes: u64,
}

/// The door that an attempt comes through.
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

/// A program, as it is recorded: never its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    pub(crate) hash: String,
    pub(crate) bytes: u64,
}

/// Why an attempt came to no run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// What was asked is wrong, or more than the policy grants.
    Arguments,
    /// Too many runs of the session wait.
    QueueFull,
    /// Too many sessions are at work.
    TooManySessions,
    /// The host is ending.
    Closing,
    /// The machine cannot give the sandbox that is required.
    Sandbox,
    /// The sandbox could not be started.
    Launch,
    /// It could not be recorded.
    NotRecorded,
    /// The host failed.
    Inside,
}

/// One call of a tool that came to an end.
#[derive(Debug, Clone)]
pub struct CallMade {
    /// The server's name, as far as it was found.
    pub server: String,
    /// The tool's name, as far as it was found.
    pub tool: String,
    /// What it was called with.
    pub arguments: Arguments,
    /// How long it took.
    pub duration: Duration,
    /// `answered`, `in_sandbox` (a tool file), `tool_error`, `cancelled`, or the kind of the failure.
    pub outcome: String,
    /// Bytes of the answer.
    pub result_bytes: Option<u64>,
}

/// One thing to write.
#[derive(Debug)]
pub(crate) enum Row {
    Begun(Arc<Run>),
    Ended(Arc<Run>, Box<Ended>),
    Call(Box<Call>),
    Opened(Arc<Session>),
    Closed(Arc<Session>, Closing),
    Event(Event),
    Receipt(RunId, Box<RecordedReceipt>),
}

/// A run as it stands when it is accepted or refused.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) attempt: Arc<Attempt>,
    pub(crate) session: Option<String>,
    pub(crate) asked_ms: i64,
}

/// How a run ended. Sizes in bytes, durations in microseconds.
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
}

#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) run: RunId,
    pub(crate) begun_ms: i64,
    pub(crate) made: CallMade,
}

/// A life of a session.
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

/// How a life of a session ended.
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

/// What became of something that outlives sessions.
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
    /// The word in records.
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
    /// The program with this text.
    pub fn of(text: &str) -> Code {
        Code {
            hash: hex(&Sha256::digest(text)),
            bytes: text.len() as u64,
        }
    }
}

// === impl Refused ===

impl Refused {
    /// The word in records.
    pub fn name(self) -> &'static str {
        match self {
            Refused::Arguments => "arguments",
            Refused::QueueFull => "queue_full",
            Refused::TooManySessions => "too_many_sessions",
            Refused::Closing => "closing",
            Refused::Sandbox => "sandbox",
            Refused::Launch => "launch",
            Refused::NotRecorded => "not_recorded",
            Refused::Inside => "inside",
        }
    }
}

// === impl Change ===

impl Change {
    /// The word in records.
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
    /// Bytes that it holds, about.
    pub(crate) fn weight(&self) -> usize {
        512 + match self {
            Row::Call(call) => call.made.arguments.weight(),
            _ => 0,
        }
    }

    /// The time by which it is kept, in milliseconds since 1970; `None` for one that is kept otherwise, or with its run.
    pub(crate) fn time_ms(&self) -> Option<i64> {
        match self {
            Row::Begun(run) | Row::Ended(run, _) => Some(run.asked_ms),
            Row::Call(call) => Some(call.begun_ms),
            Row::Event(event) => Some(event.at_ms),
            Row::Opened(_) | Row::Closed(..) | Row::Receipt(..) => None,
        }
    }
}

// === impl Ended ===

impl Ended {
    /// An attempt that came to no run.
    pub(crate) fn refused(why: Refused, at_ms: i64) -> Ended {
        Ended {
            at_ms,
            status: Status::Refused.name(),
            error_kind: Some(why.name().to_owned()),
            ..Ended::default()
        }
    }

    /// What is kept of an outcome: never what it says.
    pub(crate) fn of(outcome: &Outcome, at_ms: i64) -> Ended {
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
            ..Ended::default()
        }
    }
}

/// A name of somebody else's as far as it is kept.
pub(crate) fn cut(name: &str) -> String {
    name[..name.floor_char_boundary(MAX_NAME)].to_owned()
}

/// SQL has no unsigned numbers.
pub(crate) fn number(unsigned: u64) -> i64 {
    i64::try_from(unsigned).unwrap_or(i64::MAX)
}

/// Bytes of a value as compact JSON.
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
