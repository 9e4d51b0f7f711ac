//! The host calls of a run, and the check of the calls that the guest found in the program.
//!
//! A guest that parses programs sends the calls before it runs a program. The host never parses such a language.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use check::{Program, Report};
use sandbox::{BoxFuture, CallContext, HostCall, HostCalls, Stream};
use serde_json::value::{RawValue, to_raw_value};
use types::{
    CHECK_CALL, CheckAnswer, CheckMode, FoundCalls, HostCallError, HostCallErrorKind, Language, Outcome,
    Principal, RunInputs, SessionFate,
};

use crate::check::{Check, refused};

/// Longest wait for tool lists of servers that the program names.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) struct JudgedCalls {
    calls: Arc<dyn HostCalls>,
    check: Arc<dyn Check>,
    principal: Principal,
    language: Language,
    mode: CheckMode,
    report: Mutex<Report>,
    /// Whether the program has made a call, which proves that the program runs, whatever the guest reports.
    runs: AtomicBool,
}

impl JudgedCalls {
    pub(super) fn new(
        calls: Arc<dyn HostCalls>,
        check: Arc<dyn Check>,
        principal: Principal,
        language: Language,
        mode: CheckMode,
    ) -> Self {
        Self {
            calls,
            check,
            principal,
            language,
            mode,
            report: Mutex::default(),
            runs: AtomicBool::new(false),
        }
    }

    /// The report and the outcome: a refusal if the guest did not run the program because of the report.
    pub(super) fn settle(&self, outcome: Outcome) -> (Report, Outcome) {
        let report = std::mem::take(&mut *self.report.lock().unwrap_or_else(PoisonError::into_inner));
        let is_refused = self.refuses(&report)
            && !self.runs.load(Ordering::Relaxed)
            && outcome.session == SessionFate::Kept
            && outcome.error.is_some();
        if !is_refused {
            return (report, outcome);
        }
        let refused = refused(&report);
        (report, refused)
    }

    fn refuses(&self, report: &Report) -> bool {
        self.mode == CheckMode::Enforce && report.has_errors()
    }

    async fn judge(&self, found: HostCall) -> Result<Box<RawValue>, HostCallError> {
        let found: FoundCalls = serde_json::from_value(found.args)
            .map_err(|error| HostCallError::new(HostCallErrorKind::InvalidArguments, error.to_string()))?;
        let report = match self.mode {
            CheckMode::Off => Report::default(),
            CheckMode::Warn | CheckMode::Enforce => {
                let program = Arc::new(Program::found(found, self.language));
                self.check.check(&self.principal, program, PATIENCE).await
            }
        };
        let verdict = CheckAnswer {
            refused: self.refuses(&report),
        };
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = report;
        to_raw_value(&verdict)
            .map_err(|error| HostCallError::new(HostCallErrorKind::InvalidArguments, error.to_string()))
    }
}

impl HostCalls for JudgedCalls {
    fn call(
        &self,
        call: HostCall,
        context: CallContext,
    ) -> BoxFuture<'_, Result<Box<RawValue>, HostCallError>> {
        if call.name == CHECK_CALL && !self.runs.load(Ordering::Relaxed) {
            return Box::pin(self.judge(call));
        }
        self.runs.store(true, Ordering::Relaxed);
        self.calls.call(call, context)
    }

    fn names(&self) -> Option<Vec<String>> {
        self.calls.names()
    }

    fn inputs(&self) -> Option<RunInputs> {
        self.calls.inputs()
    }

    fn inputs_read(&self, reads: &RawValue) {
        self.calls.inputs_read(reads);
    }

    fn printed(&self, stream: Stream, bytes: &[u8]) {
        self.calls.printed(stream, bytes);
    }
}
