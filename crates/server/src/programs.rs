//! Runs programs, for the command line.

use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use accounting::Receipt;
use policy::TimeoutError;
use session::SessionError;
use store::{Front, Refused, Searched};
use tokio_util::sync::CancellationToken;
use types::{CheckMode, Granted, Language, Outcome, RunId, RunProfile, RunSpec, SessionName, WrittenFile};

use crate::Caller;
use crate::calls::Printed;
use crate::service::RunExtras;

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
    pub output: Option<mpsc::SyncSender<Printed>>,
}

/// What became of a program.
#[derive(Debug)]
pub struct ProgramResult {
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

impl ProgramResult {
    /// What a run that did not complete says of itself, in the words that a client's model sees.
    pub fn error_text(&self) -> Option<String> {
        surfaces::error_text(&self.outcome, self.wall_time)
    }

    /// What to know before a program that has failed is run again.
    pub fn changed_before_failure(&self) -> Option<String> {
        surfaces::changed_before_failure(self.outcome.status, self.changes.as_deref())
    }

    /// Where a file that the program wrote is on the host; `None` if it is gone with the session.
    pub fn host_path(&self, file: &WrittenFile) -> Option<PathBuf> {
        self.directories.iter().find_map(|(place, directory)| {
            let name = file.path.strip_prefix(place)?.strip_prefix('/')?;
            Some(directory.join(name))
        })
    }
}

impl Caller {
    /// Runs a program in this process's own session.
    pub async fn run(&self, program: Program, cancel: CancellationToken) -> Result<ProgramResult, NotRun> {
        self.run_for(Front::Run, program, cancel).await
    }

    /// The same, as the work of this front.
    pub(crate) async fn run_for(
        &self,
        front: Front,
        program: Program,
        cancel: CancellationToken,
    ) -> Result<ProgramResult, NotRun> {
        let shared = &self.shared;
        let limits = match shared.policy.limits_within(program.timeout) {
            Ok(limits) => limits,
            Err(error) => {
                let attempt = self.attempt(front, Some(Language::Python.name()), Some(&program.code), None);
                let recorded = shared.records.refused(attempt, Refused::Arguments).await;
                recorded.map_err(SessionError::NotRecorded)?;
                return Err(error.into());
            }
        };
        let wall_time = limits.wall_time;
        let receipt = program.receipt.unwrap_or(self.defaults.receipt);
        let code = receipt.then(|| program.code.clone());
        let granted = Granted {
            limits,
            named: Vec::new(),
        };
        let profile = RunProfile {
            check: program.check.unwrap_or(self.defaults.check),
            ..RunProfile::default()
        };
        let around = RunExtras {
            front,
            receipt,
            searched: Searched::default(),
            activity: None,
            printed: program.output,
        };
        let spec = RunSpec::python(program.code, granted);
        let mut executed = self.execute_run(spec, profile, around, cancel).await?;
        let direct = executed.direct.take();
        let receipt = match (direct, code) {
            (Some(direct), Some(code)) => {
                let servers = self.shown_servers().await;
                let input = surfaces::receipt_input(&executed, &servers, &code, wall_time, direct);
                self.take_receipt(&executed.run_id, input).await
            }
            _ => None,
        };
        Ok(ProgramResult {
            directories: shared.files.directories(&self.principal, &executed.session),
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
