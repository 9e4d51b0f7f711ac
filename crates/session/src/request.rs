//! The request to a session and its result.

use std::fmt;
use std::sync::Arc;

use sandbox::{BoxFuture, HostCalls, LaunchError};
use store::{NotRecorded, Refused, RunRecord};
use tokio_util::sync::CancellationToken;
use types::{Limit, Outcome, Principal, RunId, RunProfile, RunSpec, SessionName};

use crate::cpu_meter::CpuMeter;

/// One program to run. Dropping the future of the run cancels it.
pub struct RunRequest {
    /// Owner of the session: each principal has its own session names.
    pub principal: Principal,
    /// The request. Its limits also apply to the session if this run opens it.
    pub spec: RunSpec,
    /// The surface's interpretation of the run.
    pub profile: RunProfile,
    /// Answers the run's host calls.
    pub calls: Arc<dyn HostCalls>,
    /// Ends the run, even while the run is queued.
    pub cancel: CancellationToken,
    /// Handle and record of the run.
    pub record: RunRecord,
    /// Waits until the run may start, after the session is free. The run holds the value until its end. `None` starts
    /// the run at once.
    pub turn: Option<BoxFuture<'static, Box<dyn Send>>>,
    /// Counts the CPU time of the run, or its duration if its processes cannot be measured.
    pub meter: CpuMeter,
}

/// Result of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    /// Handle of the run.
    pub run_id: RunId,
    /// The session of the run.
    pub session: SessionName,
    /// The outcome that the guest and the host report.
    pub outcome: Outcome,
    /// The findings of the check, one line each.
    pub findings: Vec<String>,
    /// Reports the loss of an earlier life of the session, with the reason.
    pub notice: Option<String>,
    /// Whether files in `/workspace` and `/results` outlive the session.
    pub keeps_files: bool,
}

/// Why the host did not run the program; nothing was executed, except for `EndNotRecorded` and
/// `Failed`.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SessionError {
    /// No guest could be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The session's queue is full.
    #[error(
        "session '{session}' has {waiting} runs waiting already; wait for one to end or use another session"
    )]
    QueueFull {
        /// Full session.
        session: SessionName,
        /// Waiting runs.
        waiting: usize,
    },
    /// The open session has another value of a requested limit.
    #[error(
        "limits.{limit}: session '{session}' is open with {has}, not {asked}, and keeps it until it ends; leave \
         `{limit}` out, or open another session"
    )]
    Limit {
        /// The open session.
        session: SessionName,
        /// The limit that differs.
        limit: Limit,
        /// The session's value.
        has: String,
        /// The requested value.
        asked: String,
    },
    /// All sessions of the principal are busy, and the principal may not open another.
    #[error("all {open} open sessions are busy; wait for one to end or continue one by its name")]
    TooManySessions {
        /// Open sessions.
        open: usize,
    },
    /// All sessions of all principals are busy, and no other may be opened.
    #[error("all {open} sessions that this codeyard may open are busy; try again in a moment")]
    TooManySessionsOfAll {
        /// Open sessions.
        open: usize,
    },
    /// The host is shutting down, or the virtual server was changed or removed.
    #[error(
        "the program was not run: codeyard is ending, or its virtual server has changed; send the request again"
    )]
    Closing,
    /// The principal may no longer use this host.
    #[error("the program was not run: its user no longer has access to this codeyard")]
    Dismissed,
    /// Another process runs the session from now on.
    #[error("the program was not run: its session is moving to another process; send the request again")]
    Moved,
    /// The run could not be recorded.
    #[error("the program was not run: {0}")]
    NotRecorded(NotRecorded),
    /// The end of the run could not be recorded.
    #[error("the program was run, but its result is withheld: {0}")]
    EndNotRecorded(NotRecorded),
    /// The task of the session ended without an answer.
    #[error("session '{session}' failed inside codeyard; run the program again")]
    Failed {
        /// The failed session.
        session: SessionName,
    },
}

impl SessionError {
    /// The reason in records.
    pub(crate) fn refused(&self) -> Refused {
        match self {
            SessionError::Launch(LaunchError::Refused(_)) => Refused::Sandbox,
            SessionError::Launch(LaunchError::Failed(_)) => Refused::Launch,
            SessionError::QueueFull { .. } => Refused::QueueFull,
            SessionError::TooManySessions { .. } | SessionError::TooManySessionsOfAll { .. } => {
                Refused::TooManySessions
            }
            SessionError::Limit { .. } => Refused::Arguments,
            SessionError::Closing | SessionError::Dismissed | SessionError::Moved => Refused::Closing,
            SessionError::NotRecorded(_) | SessionError::EndNotRecorded(_) => Refused::NotRecorded,
            SessionError::Failed { .. } => Refused::Inside,
        }
    }
}

impl fmt::Debug for RunRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunRequest")
            .field("principal", &self.principal)
            .field("language", &self.spec.language)
            .field("session", &self.spec.session)
            .field("code", &format_args!("{} bytes", self.spec.code.len()))
            .finish_non_exhaustive()
    }
}
