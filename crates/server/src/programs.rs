//! Runs programs, for the command line.

use std::sync::Arc;
use std::time::Duration;

use broker::RunScope;
use policy::{Asked, LimitError};
use sandbox::HostCalls;
use serde_json::json;
use session::{RunRequest, SessionError};
use tokio_util::sync::CancellationToken;
use types::{Outcome, RunId, SessionName};

pub use session::Language;

use crate::Server;
use crate::recording::{RecordedCall, Recorder};

/// One program.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its text.
    pub code: String,
    /// Longest duration; the settings' if absent.
    pub timeout: Option<Duration>,
    /// Whether its tool calls are kept.
    pub recording: Recording,
}

/// Whether tool calls are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Recording {
    /// They are not.
    #[default]
    Off,
    /// Each with arguments and answer.
    On,
}

/// What became of a program.
#[derive(Debug)]
pub struct Ran {
    /// Handle of the run.
    pub run_id: RunId,
    /// The session it ran in.
    pub session: SessionName,
    /// How it ended.
    pub outcome: Outcome,
    /// Longest duration that it had.
    pub wall_time: Duration,
    /// What else is to be said.
    pub notice: Option<String>,
    /// Its tool calls, if they were kept.
    pub calls: Vec<RecordedCall>,
}

/// Why a program was not run.
#[derive(Debug, thiserror::Error)]
pub enum NotRun {
    /// It asked for more than the policy grants.
    #[error(transparent)]
    Limits(#[from] LimitError),
    /// There is no session for it.
    #[error(transparent)]
    Session(#[from] SessionError),
}

impl Ran {
    /// What a run that did not complete says of itself, in the words that a client's model sees.
    pub fn error_text(&self) -> Option<String> {
        gateway::error_text(&self.outcome, self.wall_time)
    }
}

impl Server {
    /// Runs a program in this process's own session.
    pub async fn run(&self, program: Program, cancel: CancellationToken) -> Result<Ran, NotRun> {
        let shared = &self.shared;
        let asked = Asked {
            timeout_ms: program.timeout.map(|timeout| json!(timeout.as_millis())),
        };
        let limits = shared.policy.limits(&asked)?;
        let wall_time = limits.wall_time;
        let calls = shared
            .broker
            .calls(shared.principal.clone(), RunScope { wall_time });
        let recorder = Arc::new(Recorder::new(calls.clone()));
        let calls: Arc<dyn HostCalls> = match program.recording {
            Recording::Off => calls,
            Recording::On => recorder.clone(),
        };
        let result = shared
            .sessions
            .run(RunRequest {
                principal: shared.principal.clone(),
                language: Language::Python,
                session: session::Selector::Default,
                code: program.code,
                limits,
                calls,
                cancel,
            })
            .await?;
        Ok(Ran {
            run_id: result.run_id,
            session: result.session,
            outcome: result.outcome,
            wall_time,
            notice: result.notice,
            calls: recorder.take(),
        })
    }
}
