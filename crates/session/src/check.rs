//! The check before a run: refuses or reports a program with calls that would fail.
//!
//! The implementation of `Check` finds these calls.

use std::sync::Arc;
use std::time::Duration;

use check::{Names, Program, Report};
use sandbox::{BoxFuture, Run};
use types::{CheckMode, GuestError, Language, Outcome, Principal, SessionFate, Status};

/// Maximum bytes of a program to parse on this thread; parsing a longer program takes milliseconds.
const SHORT: usize = 16 * 1024;

/// Longest wait for tool lists of servers that the program names.
const PATIENCE: Duration = Duration::from_secs(5);

/// Checks programs against the available tools.
pub trait Check: Send + Sync {
    /// Finds the calls of the program that would fail. If necessary, requests the tool lists of the servers that the
    /// program names, and waits up to `patience`.
    fn check<'a>(
        &'a self,
        principal: &'a Principal,
        program: Arc<Program>,
        patience: Duration,
    ) -> BoxFuture<'a, Report>;
}

/// A check without findings.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCheck;

impl Check for NoCheck {
    fn check<'a>(
        &'a self,
        _principal: &'a Principal,
        _program: Arc<Program>,
        _patience: Duration,
    ) -> BoxFuture<'a, Report> {
        Box::pin(std::future::ready(Report::default()))
    }
}

/// Result of the check of one program.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// Supplies the names that the program leaves bound.
    pub(crate) program: Arc<Program>,
    pub(crate) report: Report,
}

/// Parses a program and checks it according to the run's profile.
pub(crate) async fn checked(check: &dyn Check, principal: &Principal, run: &Run, names: &Names) -> Checked {
    let code = &run.spec.code;
    if run.spec.language != Language::Python {
        return Checked::default();
    }
    let program = if code.len() <= SHORT {
        Program::read(code, names)
    } else {
        let (code, names) = (code.clone(), names.clone());
        let read = tokio::task::spawn_blocking(move || Program::read(&code, &names));
        read.await.unwrap_or_default()
    };
    let program = Arc::new(program);
    let report = match run.profile.check {
        CheckMode::Off => Report::default(),
        CheckMode::Warn | CheckMode::Enforce if program.is_empty() => Report {
            unchecked: program.unchecked(),
            ..Report::default()
        },
        CheckMode::Warn | CheckMode::Enforce => {
            check
                .check(principal, program.clone(), PATIENCE.min(run.limits().wall_time))
                .await
        }
    };
    Checked { program, report }
}

pub(crate) fn refused(report: &Report) -> Outcome {
    let message = format!(
        "the program was not run and nothing has happened:\n{}\nCorrect it and run it again, or pass check: \"warn\" \
         (--check warn on the command line) to run it as it is.",
        report.lines().join("\n")
    );
    let error = GuestError {
        kind: "CheckFailed".to_owned(),
        message,
        ..GuestError::default()
    };
    Outcome::bare(Status::Refused, SessionFate::Kept, Some(error))
}
