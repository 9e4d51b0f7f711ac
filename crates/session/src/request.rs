//! What is asked of a session and what comes back.

use std::fmt;
use std::sync::Arc;

use sandbox::{HostCalls, LaunchError};
use store::{NotRecorded, Refused, RunRecord};
use tokio_util::sync::CancellationToken;
use types::{Limit, Outcome, Principal, RunId, RunProfile, RunSpec, SessionName};

/// One program to run. Dropping the future of the run cancels it.
pub struct RunRequest {
    /// Who asks: names of sessions are theirs alone.
    pub principal: Principal,
    /// What is asked; limits are those of the session too if this run opens it.
    pub spec: RunSpec,
    /// What the surface means by it.
    pub profile: RunProfile,
    /// Answers its host calls.
    pub calls: Arc<dyn HostCalls>,
    /// Ends the run, also while it waits for its turn.
    pub cancel: CancellationToken,
    /// Its handle, and what is written down of it.
    pub record: RunRecord,
}

/// What became of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    /// Handle of the run.
    pub run_id: RunId,
    /// The session it ran in.
    pub session: SessionName,
    /// How it ended.
    pub outcome: Outcome,
    /// What the check found, one line each.
    pub findings: Vec<String>,
    /// That an earlier life of the session is gone, and why.
    pub notice: Option<String>,
    /// Whether files in `/workspace` and `/results` outlive the session.
    pub keeps_files: bool,
}

/// The host could not run the program; nothing of it was executed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SessionError {
    /// No guest could be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// Too many runs wait for their turn.
    #[error(
        "session '{session}' has {waiting} runs waiting already; wait for one to end or use another session"
    )]
    QueueFull {
        /// The session.
        session: SessionName,
        /// How many wait.
        waiting: usize,
    },
    /// The session is open with another value of a limit that the caller named.
    #[error(
        "limits.{limit}: session '{session}' is open with {has}, not {asked}, and keeps it until it ends; leave \
         `{limit}` out, or open another session"
    )]
    Limit {
        /// The session.
        session: SessionName,
        /// The limit.
        limit: Limit,
        /// What the session has.
        has: String,
        /// What was asked.
        asked: String,
    },
    /// Every session that the principal may have is at work.
    #[error(
        "{open} sessions are open and all of them are at work; wait for one to end or continue one by its name"
    )]
    TooManySessions {
        /// How many.
        open: usize,
    },
    /// The host is shutting down.
    #[error("no program is started any more: codeyard is ending")]
    Closing,
    /// Whoever asked may not use this host any more.
    #[error("the program was not run: its user has no access to this codeyard any more")]
    Dismissed,
    /// It would leave no record.
    #[error("the program was not run: {0}")]
    NotRecorded(NotRecorded),
    /// Its end left no record.
    #[error("the program was run and what came of it is withheld: {0}")]
    EndNotRecorded(NotRecorded),
    /// The task of the session ended without an answer.
    #[error("session '{session}' failed inside codeyard; run the program again")]
    Failed {
        /// The session.
        session: SessionName,
    },
}

impl SessionError {
    /// The same for the records.
    pub(crate) fn refused(&self) -> Refused {
        match self {
            SessionError::Launch(LaunchError::Refused(_)) => Refused::Sandbox,
            SessionError::Launch(LaunchError::Failed(_)) => Refused::Launch,
            SessionError::QueueFull { .. } => Refused::QueueFull,
            SessionError::TooManySessions { .. } => Refused::TooManySessions,
            SessionError::Limit { .. } => Refused::Arguments,
            SessionError::Closing | SessionError::Dismissed => Refused::Closing,
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
