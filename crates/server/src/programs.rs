//! Runs programs, for the command line.

use std::time::Duration;

use broker::RunScope;
use policy::TimeoutError;
use session::{Language, RunRequest, SessionError};
use store::{Front, Refused};
use tokio_util::sync::CancellationToken;
use types::{CheckMode, Granted, Outcome, RunId, SessionName};

use crate::Server;

/// One program.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its text.
    pub code: String,
    /// Longest duration; the settings' if absent.
    pub timeout: Option<Duration>,
    /// What is done with what the check before the run finds; the settings' if absent.
    pub check: Option<CheckMode>,
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
    /// What the check before the run found, one line each.
    pub findings: Vec<String>,
    /// What else is to be said.
    pub notice: Option<String>,
    /// What it ran in, if that is another backend than the default.
    pub backend: Option<&'static str>,
}

/// Why a program was not run.
#[derive(Debug, thiserror::Error)]
pub enum NotRun {
    /// It asked for more time than the policy grants.
    #[error(transparent)]
    Timeout(#[from] TimeoutError),
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
        self.run_for(Front::Run, program, cancel).await
    }

    /// The same, as the work of this front.
    pub(crate) async fn run_for(
        &self,
        front: Front,
        program: Program,
        cancel: CancellationToken,
    ) -> Result<Ran, NotRun> {
        let shared = &self.shared;
        let language = Language::Python;
        let attempt = |limits| self.attempt(front, Some(language.name()), Some(&program.code), limits);
        let limits = match shared.policy.limits_within(program.timeout) {
            Ok(limits) => limits,
            Err(error) => {
                let recorded = shared.records.refused(attempt(None), Refused::Arguments).await;
                recorded.map_err(SessionError::NotRecorded)?;
                return Err(error.into());
            }
        };
        let record = shared.records.attempt(attempt(Some(limits.clone())));
        let wall_time = limits.wall_time;
        let calls = self.calls(RunScope {
            run: record.run().clone(),
            wall_time,
            loaded: None,
        });
        let result = shared
            .sessions
            .run(RunRequest {
                principal: shared.principal.clone(),
                language,
                session: session::Selector::Default,
                code: program.code,
                granted: Granted {
                    limits,
                    named: Vec::new(),
                },
                calls,
                cancel,
                check: program.check.unwrap_or(shared.check),
                surface: None,
                keep_over: None,
                record,
            })
            .await?;
        Ok(Ran {
            run_id: result.run_id,
            session: result.session,
            outcome: result.outcome,
            wall_time,
            findings: result.findings,
            notice: result.notice,
            backend: self.chosen_backend(),
        })
    }
}
