//! Evaluates a line of the constrained commands on a blocking thread, and records it like a run.

use std::time::Instant;

use constrained_shell::{Evaluated, TIME_IS_OVER};
use replay::{ProgramKind, RecordedProgram};
use session::{SessionError, thread_time};
use store::{Front, Refused, RunRecord};
use surfaces::{CommandLine, MadeCalls, MetaToolRun, RunError};
use tokio::time::timeout_at;
use tokio_util::sync::CancellationToken;
use types::{Appearance, GuestError, Outcome, Results, SessionFate, Status, Text, Usage};

use super::SessionTools;
use super::files::ShellFiles;
use super::jq_process::JqProcess;
use crate::calls::HostCallLog;
use crate::run_traces;

/// The language of such runs in the records.
const LANGUAGE: &str = "shell";

/// Status of a line that asks for what is not permitted.
const NOT_PERMITTED: u8 = 126;

impl SessionTools {
    pub(super) async fn evaluate_line(
        &self,
        line: CommandLine,
        cancel: CancellationToken,
    ) -> Result<MetaToolRun, RunError> {
        let span = self.caller.begin_span(LANGUAGE, &line.line, line.trace.as_ref());
        let ended = self.evaluate_untraced(line, cancel).await;
        run_traces::end_line(span, &ended);
        ended
    }

    async fn evaluate_untraced(
        &self,
        line: CommandLine,
        cancel: CancellationToken,
    ) -> Result<MetaToolRun, RunError> {
        self.caller.count_run(Some(LANGUAGE), &line.line).await?;
        let _turn = self.caller.turn_of_line(&cancel).await?;
        let records = &self.caller.shared.records;
        let attempt = self.caller.attempt(
            Front::Mcp,
            Some(LANGUAGE),
            Some(&line.line),
            Some(line.limits.clone()),
        );
        let mut record = records.attempt(attempt);
        record.accepted(None);
        if let Err(error) = record.begin().await {
            // Do not wait for this record.
            let _ = record.refuse(Refused::NotRecorded).await;
            return Err(SessionError::NotRecorded(error).into());
        }
        record.begun();
        let program = RecordedProgram {
            code: line.line.clone(),
            kind: ProgramKind::Line,
            appearance: Appearance::Server,
            results: Results::Whole,
        };
        let outcome = self.outcome(line, &cancel).await;
        let run = self.finished(record, outcome).await?;
        self.caller
            .keep_recording(&run.run_id, &run.outcome, program, &HostCallLog::default())
            .await;
        Ok(run)
    }

    async fn finished(&self, record: RunRecord, outcome: Outcome) -> Result<MetaToolRun, RunError> {
        let run_id = record.run().clone();
        if outcome.status == Status::Refused {
            let why = outcome.error.as_ref().map_or("", |error| &error.message);
            self.caller.shared.records.file_denied(Some(&run_id), why);
        }
        let recorded = record.ended(&outcome, None).await;
        recorded.map_err(SessionError::NotRecorded)?;
        Ok(MetaToolRun {
            run_id,
            outcome,
            calls: MadeCalls::default(),
            blocked: None,
            notes: Vec::new(),
        })
    }

    /// Evaluates the line once its turn has come; waiting counts.
    async fn outcome(&self, line: CommandLine, cancel: &CancellationToken) -> Outcome {
        let began = Instant::now();
        let deadline = began + line.limits.wall_time;
        let turns = self.caller.shared.command_lines.clone();
        let turn = timeout_at(deadline.into(), turns.acquire_owned());
        let turn = match cancel.run_until_cancelled(turn).await {
            Some(Ok(Ok(turn))) => turn,
            Some(Err(_)) => return ended(Status::TimedOut, None),
            Some(Ok(Err(_))) | None => return ended(Status::Cancelled, None),
        };
        let cpu_meter = self.caller.cpu_meter();
        cpu_meter.around(Box::pin(self.prepare_tools(&line.line))).await;
        let given_up = cancel.clone();
        let meter = cpu_meter.clone();
        let evaluated = self.on_files(move |files| {
            let _turn = turn;
            let before = thread_time();
            let is_over = || given_up.is_cancelled() || Instant::now() >= deadline;
            let jq = JqProcess {
                deadline,
                meter: meter.clone(),
            };
            let evaluated = constrained_shell::evaluate(&line.line, &ShellFiles(files), &jq, &is_over);
            let used = thread_time().saturating_sub(before);
            meter.add_host(used);
            Ok((evaluated, used))
        });
        let mut outcome = match evaluated.await {
            Ok((evaluated, cpu)) => Outcome {
                usage: Usage {
                    cpu: Some(cpu),
                    ..Usage::default()
                },
                ..outcome_of(evaluated, cancel)
            },
            Err(error) => ended(Status::Failed, Some(error.to_string())),
        };
        outcome.usage.wall = began.elapsed();
        self.caller.charge(&cpu_meter).await;
        outcome
    }
}

fn outcome_of(evaluated: Evaluated, cancel: &CancellationToken) -> Outcome {
    let error = evaluated.reported_error();
    let status = match evaluated.exit {
        0 => Status::Completed,
        NOT_PERMITTED => Status::Refused,
        TIME_IS_OVER if cancel.is_cancelled() => Status::Cancelled,
        TIME_IS_OVER => Status::TimedOut,
        _ => Status::Failed,
    };
    let mut outcome = match status {
        // A note, such as that output was cut.
        Status::Completed => Outcome {
            stderr: Text::whole(error.unwrap_or_default()),
            ..ended(status, None)
        },
        // The statuses say it.
        Status::TimedOut | Status::Cancelled => ended(status, None),
        status => ended(status, error),
    };
    outcome.stdout = Text::whole(evaluated.output);
    outcome
}

fn ended(status: Status, message: Option<String>) -> Outcome {
    let error = message.map(|message| GuestError {
        message,
        ..GuestError::default()
    });
    Outcome::bare(status, SessionFate::Kept, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s0_42_exit_statuses_become_those_of_runs() {
        #[track_caller]
        fn check(exit: u8, error: &str, is_cancelled: bool, expected: Status, message: Option<&str>) {
            let cancel = CancellationToken::new();
            if is_cancelled {
                cancel.cancel();
            }
            let evaluated = Evaluated {
                exit,
                error: error.to_owned(),
                ..Evaluated::default()
            };
            let outcome = outcome_of(evaluated, &cancel);
            assert_eq!(outcome.status, expected);
            assert_eq!(outcome.error.map(|error| error.message).as_deref(), message);
        }
        check(0, "", false, Status::Completed, None);
        check(1, "", false, Status::Failed, Some("Command exited with status 1"));
        check(
            1,
            "jq: missing filter",
            false,
            Status::Failed,
            Some("jq: missing filter"),
        );
        check(126, "EACCES: no", false, Status::Refused, Some("EACCES: no"));
        check(TIME_IS_OVER, "", false, Status::TimedOut, None);
        check(TIME_IS_OVER, "", true, Status::Cancelled, None);
    }
}
