//! Turns the guest's report, or its absence, into an outcome.

use guest::frames::{Done, DoneError, Measure, ResultText};
use types::{GuestError, Limit, Limits, Outcome, RunLimits, SessionFate, Status, spelled_out};

/// Limits in bytes on class name, message and traceback.
const MAX_KIND: usize = 200;
const MAX_MESSAGE: usize = 16 * 1024;
const MAX_TRACEBACK: usize = 64 * 1024;

/// Limits that only the program sees, as an exception that it did not catch. The guest reports these limits itself,
/// and a false report concerns only its own failure.
const FELT_INSIDE: [Limit; 7] = [
    Limit::Memory,
    Limit::Processes,
    Limit::OpenFiles,
    Limit::FileSize,
    Limit::Disk,
    Limit::Inodes,
    Limit::HostCalls,
];

/// An outcome with status, error, result and content; the caller adds output and usage.
pub struct Verdict {
    pub outcome: Outcome,
}

impl Verdict {
    pub fn from_done(done: Done) -> Self {
        let status = match done
            .error
            .as_ref()
            .map(|error| error.limit.as_deref().and_then(felt))
        {
            None => Status::Completed,
            Some(None) => Status::Failed,
            Some(Some(limit)) => Status::LimitExceeded { limit },
        };
        Self::ended(done, status)
    }

    /// The verdict if the guest reported its end and the host knows the reason.
    pub fn ended(done: Done, status: Status) -> Self {
        let mut outcome = Outcome::bare(status, SessionFate::Kept, done.error.map(bounded));
        match done.result {
            ResultText::Absent => {}
            ResultText::Value(value) => outcome.result = Some(value),
            ResultText::TooLarge(measure) => refuse(&mut outcome, measure),
        }
        outcome.kept = done.kept;
        outcome.content = done.content;
        outcome.unused = done.unused;
        outcome.files = done.files;
        Self { outcome }
    }

    /// The verdict if the host killed the guest, or the guest ended by itself.
    pub fn killed(status: Status, error: Option<GuestError>) -> Self {
        Self {
            outcome: Outcome::bare(status, SessionFate::Lost, error),
        }
    }

    pub fn out_of_memory() -> Self {
        Self::killed(Status::LimitExceeded { limit: Limit::Memory }, None)
    }

    /// Adds an explanation where the host knows more than the guest.
    pub fn explained(mut self, session: &Limits, run: &RunLimits) -> Self {
        let explanation = match self.outcome.status {
            Status::Completed | Status::Failed | Status::Refused => return self,
            Status::TimedOut => error(
                "TimeoutError",
                &format!("Execution timed out after {}ms", run.wall_time.as_millis()),
            ),
            Status::Cancelled => error("Cancelled", "the run was cancelled"),
            // The program's exception contains more detail than the limit's name.
            Status::LimitExceeded { .. } if felt_inside(&self.outcome) => return self,
            Status::LimitExceeded { limit } => error("LimitExceeded", &exceeded(limit, session, run)),
        };
        let traceback = self
            .outcome
            .error
            .take()
            .map(|error| error.traceback)
            .unwrap_or_default();
        self.outcome.error = Some(GuestError {
            traceback,
            ..explanation
        });
        self
    }
}

/// Whether the error is the program's own, and not an interruption.
fn felt_inside(outcome: &Outcome) -> bool {
    outcome
        .error
        .as_ref()
        .is_some_and(|error| error.kind != "KeyboardInterrupt")
}

fn exceeded(limit: Limit, session: &Limits, run: &RunLimits) -> String {
    match limit {
        Limit::Memory => format!(
            "the session used more than its {} MiB of memory",
            session.memory / (1024 * 1024)
        ),
        Limit::CpuTime => format!(
            "the run used more than its {} s of CPU time",
            run.cpu_time.as_secs_f64()
        ),
        Limit::Workspace => {
            "the files in /workspace, /results and /scratch take more than the quota; delete some".to_owned()
        }
        other => format!("the run exceeded its limit `{other}`"),
    }
}

fn felt(name: &str) -> Option<Limit> {
    if name == Limit::Workspace.name() {
        return Some(Limit::Workspace);
    }
    Limit::from_name(name).filter(|limit| FELT_INSIDE.contains(limit))
}

/// Fails a run whose result is too large for the host.
fn refuse(outcome: &mut Outcome, measure: Measure) {
    if outcome.status == Status::Completed {
        outcome.status = Status::Failed;
        let message = format!(
            "the result has {} values in {} bytes, more than the host builds; write it to a file in /results instead",
            measure.nodes, measure.text
        );
        outcome.error = Some(error("TooLarge", &message));
    }
}

pub fn jail_error(step: u32, errno: i32) -> GuestError {
    let cause = std::io::Error::from_raw_os_error(errno);
    error(
        "SandboxError",
        &format!("the session could not be confined at step {step}: {cause}; no code has run"),
    )
}

/// The error if the guest's process ended without a report.
pub fn lost() -> GuestError {
    error(
        "SandboxLost",
        "the program ended its own process; the session is gone",
    )
}

pub fn unsettled(cause: &str) -> GuestError {
    error(
        "SandboxLost",
        &format!(
            "the session was ended because the run left something running that cannot be ended: {cause}"
        ),
    )
}

/// The message for a killed guest that does not end.
pub const STUCK: &str = "the session was given up: a process of it was killed and does not end; it may wait for a file system \
                         that does not answer";

pub fn stuck() -> GuestError {
    error("SandboxLost", STUCK)
}

pub fn protocol(cause: &str) -> GuestError {
    error(
        "SandboxLost",
        &format!("the session was ended because it broke the protocol: {cause}"),
    )
}

fn error(kind: &str, message: &str) -> GuestError {
    GuestError {
        kind: kind.to_owned(),
        message: message.to_owned(),
        ..GuestError::default()
    }
}

/// The guest's error, cut to a length for a model to read.
fn bounded(error: DoneError) -> GuestError {
    GuestError {
        // A class may have any name, and the message shows this name next to the host's own words.
        kind: cut(spelled_out(&error.kind), MAX_KIND),
        message: cut(error.message, MAX_MESSAGE),
        traceback: cut(error.traceback, MAX_TRACEBACK),
        exit: error.exit,
    }
}

/// Cuts the text to at most `most` bytes, at a character boundary.
fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        let end = (0..=most)
            .rev()
            .find(|end| text.is_char_boundary(*end))
            .unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}
