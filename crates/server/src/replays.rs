//! Repeats a recorded run: live, against the servers of today, or against its recording.

use std::sync::mpsc;

use broker::RunClient;
use replay::{
    Difference, ExportedRun, ProgramKind, RecordedAnswers, RecordedProgram, RunRecording, differences,
};
use store::{Front, Searched};
use tokio_util::sync::CancellationToken;
use types::{CheckMode, Granted, Language, RunId, RunProfile, RunSpec, Selector};

use crate::Caller;
use crate::calls::{HostCallLog, Printed, RecordedSide};
use crate::programs::{NotRun, ProgramResult};
use crate::run_recordings::ReplayError;
use crate::service::RunExtras;

/// Against what a run is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayMode {
    /// Tools are called again. Earlier runs of the session are not repeated, since their calls have effects too.
    Live,
    /// The recording answers all calls. The earlier runs of the session are repeated first.
    Recorded,
}

/// A run that was repeated.
#[derive(Debug)]
pub struct RepeatedRun {
    /// What the run produced this time.
    pub result: ProgramResult,
    /// What differs from the recording.
    pub differences: Vec<Difference>,
}

/// A program, how it is repeated, and where.
struct Repetition {
    recording: RunRecording,
    mode: ReplayMode,
    session: Selector,
    output: Option<mpsc::SyncSender<Printed>>,
}

impl Caller {
    /// The recording of one of the caller's own runs, without the earlier runs of its session.
    ///
    /// # Errors
    /// If there is no such run, or its recording is missing or does not open.
    pub async fn recording(&self, run: &RunId) -> Result<ExportedRun, ReplayError> {
        let recordings = &self.shared.recordings;
        let row = recordings.find(run).await?;
        let row = row.filter(|row| row.principal == self.principal && row.server.as_ref() == self.server());
        let row = row.ok_or_else(|| ReplayError::NotFound(run.clone()))?;
        Ok(ExportedRun {
            earlier: Vec::new(),
            run: recordings.open(run, &row)?,
        })
    }

    /// Like [`Caller::recording`], with the earlier runs of the session.
    ///
    /// # Errors
    /// Also if a recording of an earlier run is missing or does not open.
    pub async fn recording_with_session(&self, run: &RunId) -> Result<ExportedRun, ReplayError> {
        let own = self.recording(run).await?;
        Ok(ExportedRun {
            earlier: self.shared.recordings.earlier(run).await?,
            ..own
        })
    }

    /// Repeats a recorded run in a new session.
    ///
    /// # Errors
    /// If a program was not run.
    pub async fn repeat(
        &self,
        recorded: ExportedRun,
        mode: ReplayMode,
        output: Option<mpsc::SyncSender<Printed>>,
        cancel: CancellationToken,
    ) -> Result<RepeatedRun, NotRun> {
        let ExportedRun { earlier, run } = recorded;
        let earlier = match mode {
            ReplayMode::Live => Vec::new(),
            ReplayMode::Recorded => earlier,
        };
        let mut session = Selector::New;
        let mut found = Vec::new();
        for recording in earlier {
            let repetition = Repetition {
                recording,
                mode,
                session,
                output: None,
            };
            let repeated = self.repeat_one(repetition, cancel.clone()).await?;
            session = Selector::Named(repeated.result.session);
            found.extend(repeated.differences.into_iter().map(|difference| Difference {
                what: format!("an earlier run of the session: {}", difference.what),
                ..difference
            }));
        }
        let repetition = Repetition {
            recording: run,
            mode,
            session,
            output,
        };
        let repeated = self.repeat_one(repetition, cancel).await?;
        found.extend(repeated.differences);
        Ok(RepeatedRun {
            differences: found,
            ..repeated
        })
    }

    async fn repeat_one(
        &self,
        repetition: Repetition,
        cancel: CancellationToken,
    ) -> Result<RepeatedRun, NotRun> {
        let Repetition {
            recording,
            mode,
            session,
            output,
        } = repetition;
        let limits = self.shared.policy.limits_within(None)?;
        let (wall_time, log) = (limits.wall_time, HostCallLog::default());
        let program = recording.program.clone();
        let around = RunExtras {
            front: Front::Run,
            receipt: false,
            searched: Searched::default(),
            client: RunClient::default(),
            printed: output,
            observer: None,
            trace: None,
            log: Some(log.clone()),
            recorded: (mode == ReplayMode::Recorded).then(|| RecordedSide {
                answers: RecordedAnswers::new(recording.calls.clone()),
                inputs: recording.inputs.clone(),
            }),
        };
        let spec = RunSpec {
            language: language(&program),
            session,
            ..RunSpec::python(
                program.code.clone(),
                Granted {
                    limits,
                    named: Vec::new(),
                },
            )
        };
        let executed = self.execute_run(spec, profile(&program), around, cancel).await?;
        let again = RunRecording::new(program, log.take(), &executed.outcome);
        Ok(RepeatedRun {
            differences: differences(&recording, &again),
            result: self.program_result(executed, wall_time, None),
        })
    }
}

fn profile(program: &RecordedProgram) -> RunProfile {
    RunProfile {
        reach: program.appearance.reach(),
        validate: program.appearance.validation(),
        // The recorded program passed its check, or was to run in spite of it.
        check: CheckMode::Off,
        results: program.results,
        appearance: program.appearance.clone(),
    }
}

/// A line of the constrained commands runs as a program of the shell, which knows more than these commands.
fn language(program: &RecordedProgram) -> Language {
    match program.kind {
        ProgramKind::Program(language) => language,
        ProgramKind::Line => Language::Shell,
    }
}
