//! Runs programs, for the command line.

use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use broker::{Done, RunScope};
use policy::TimeoutError;
use session::{Language, RunRequest, SessionError};
use store::{Front, Refused};
use surfaces::{Receipt, RunReport};
use tokio_util::sync::CancellationToken;
use types::{CheckMode, Granted, Outcome, RunId, SessionName, Status, WrittenFile};

use crate::Server;
use crate::calls::{Printed, Printing};

/// One program.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its text.
    pub code: String,
    /// Longest duration; the settings' if absent.
    pub timeout: Option<Duration>,
    /// What is done with what the check before the run finds; the settings' if absent.
    pub check: Option<CheckMode>,
    /// Whether what it costs is counted; the settings' if absent.
    pub receipt: Option<bool>,
    /// Hears what it prints while it runs: the beginning that the outcome has too.
    pub heard: Option<mpsc::Sender<Printed>>,
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
    /// Its calls that succeeded and may have changed something.
    pub changes: Option<String>,
    /// What it ran in, if that is another backend than the default.
    pub backend: Option<&'static str>,
    /// What it cost, if that was counted.
    pub receipt: Option<Receipt>,
    /// Where `/workspace` and `/results` are on the host, if they are kept there.
    pub directories: Vec<(&'static str, PathBuf)>,
}

/// A program from the command line, as a client would have sent it.
pub(crate) struct Counted {
    pub(crate) executed: RunReport,
    pub(crate) code: String,
    pub(crate) wall_time: Duration,
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
        surfaces::error_text(&self.outcome, self.wall_time)
    }

    /// What to know before a program that has failed is run again.
    pub fn changed_before_failure(&self) -> Option<String> {
        let has_failed = !matches!(self.outcome.status, Status::Completed | Status::Refused);
        surfaces::changed_before_failure(has_failed, self.changes.as_deref())
    }

    /// Where a file that the program wrote is on the host; `None` if it is gone with the session.
    pub fn host_path(&self, file: &WrittenFile) -> Option<PathBuf> {
        self.directories.iter().find_map(|(place, directory)| {
            let name = file.path.strip_prefix(place)?.strip_prefix('/')?;
            Some(directory.join(name))
        })
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
        let tally = self.tally(program.receipt.unwrap_or(shared.receipts.default));
        let code = tally.as_ref().map(|_| program.code.clone());
        let done = Done::default();
        let calls = self.calls(RunScope {
            run: record.run().clone(),
            wall_time,
            loaded: None,
            tally: tally.clone(),
            done: done.clone(),
            activity: None,
        });
        let calls = match program.heard {
            Some(heard) => Arc::new(Printing::new(calls, heard, limits.output)),
            None => calls,
        };
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
                cancel: cancel.clone(),
                check: program.check.unwrap_or(shared.check),
                surface: None,
                reach: None,
                keep_over: None,
                record,
            })
            .await?;
        let (direct, notice) = self.direct(tally, result.notice, &cancel).await;
        let executed = RunReport {
            run_id: result.run_id,
            session: result.session,
            outcome: result.outcome,
            findings: result.findings,
            notice,
            backend: self.chosen_backend(),
            keeps_files: result.keeps_files,
            direct: None,
            changes: done.changes(),
        };
        let receipt = match (direct, code) {
            (Some(direct), Some(code)) => {
                let counted = Counted {
                    executed: executed.clone(),
                    code,
                    wall_time,
                };
                self.receipt_of(counted, direct).await
            }
            _ => None,
        };
        Ok(Ran {
            directories: shared.files.directories(&shared.principal, &executed.session),
            run_id: executed.run_id,
            session: executed.session,
            outcome: executed.outcome,
            wall_time,
            findings: executed.findings,
            notice: executed.notice,
            changes: executed.changes,
            backend: executed.backend,
            receipt,
        })
    }
}
