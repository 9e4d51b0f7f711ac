//! Runs programs for the command line.

use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use accounting::Receipt;
use broker::RunClient;
use policy::TimeoutError;
use session::SessionError;
use store::{Front, Refused, Searched};
use surfaces::RunReport;
use tokio_util::sync::CancellationToken;
use types::{CheckMode, Granted, Language, Outcome, RunId, RunProfile, RunSpec, SessionName, WrittenFile};

use crate::Caller;
use crate::calls::Printed;
use crate::run_recordings::ReplayError;
use crate::service::RunExtras;

/// A program with its options.
#[derive(Debug, Clone)]
pub struct Program {
    /// Source text.
    pub code: String,
    /// Of `code`.
    pub language: Language,
    /// Longest duration; `None` uses the settings'.
    pub timeout: Option<Duration>,
    /// Treatment of findings of the check before the run; `None` uses the settings'.
    pub check: Option<CheckMode>,
    /// Count the cost; `None` uses the settings'.
    pub receipt: Option<bool>,
    /// Receives output during the run, up to the bytes that the outcome keeps.
    pub output: Option<mpsc::SyncSender<Printed>>,
}

/// What a program's run produced.
#[derive(Debug)]
pub struct ProgramResult {
    /// Handle of the run.
    pub run_id: RunId,
    /// The session it ran in.
    pub session: SessionName,
    /// How it ended.
    pub outcome: Outcome,
    /// Granted duration.
    pub wall_time: Duration,
    /// Findings of the check before the run, one line each.
    pub findings: Vec<String>,
    /// A further remark for the user.
    pub notice: Option<String>,
    /// Successful calls that may have changed something.
    pub changes: Option<String>,
    /// The backend, unless it is the default.
    pub backend: Option<&'static str>,
    /// The cost, if counted.
    pub receipt: Option<Receipt>,
    /// Host paths of `/workspace` and `/results`, if kept.
    pub directories: Vec<(&'static str, PathBuf)>,
}

/// Why a program was not run.
#[derive(Debug, thiserror::Error)]
pub enum NotRun {
    /// The requested duration exceeds the policy.
    #[error(transparent)]
    Timeout(#[from] TimeoutError),
    /// No session is available.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The recorded run cannot be repeated.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

impl ProgramResult {
    /// Text of an incomplete run, as a client's model sees it.
    pub fn error_text(&self) -> Option<String> {
        surfaces::error_text(&self.outcome, self.wall_time)
    }

    /// A warning to read before a failed program is run again.
    pub fn changed_before_failure(&self) -> Option<String> {
        surfaces::changed_before_failure(self.outcome.status, self.changes.as_deref())
    }

    /// Host path of a file that the program wrote; `None` if the file was deleted with the session.
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

    /// Like `run`, for another front.
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
                let attempt = self.attempt(front, Some(program.language.name()), Some(&program.code), None);
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
            client: RunClient::default(),
            printed: program.output,
            observer: None,
            trace: None,
            log: None,
            recorded: None,
        };
        let spec = RunSpec {
            language: program.language,
            ..RunSpec::python(program.code, granted)
        };
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
        Ok(self.program_result(executed, wall_time, receipt))
    }

    pub(crate) fn program_result(
        &self,
        executed: RunReport,
        wall_time: Duration,
        receipt: Option<Receipt>,
    ) -> ProgramResult {
        ProgramResult {
            directories: self.shared.files.directories(&self.principal, &executed.session),
            run_id: executed.run_id,
            session: executed.session,
            outcome: executed.outcome,
            wall_time,
            findings: executed.findings,
            notice: executed.notice,
            changes: executed.changes,
            backend: executed.backend,
            receipt,
        }
    }
}
