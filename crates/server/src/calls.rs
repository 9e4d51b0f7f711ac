//! Calls one tool for the command line or a client, on the path of a program's call.

pub(crate) mod adopting;
mod host_call_log;
mod in_sandbox;
mod printing;
mod recorded_call;
mod replayed;

pub(crate) use host_call_log::HostCallLog;
pub use printing::Printed;
pub(crate) use printing::Printing;
pub use recorded_call::RecordedCall;
pub(crate) use replayed::{RecordedSide, ReplayedCalls};

use std::time::Duration;

use broker::{AnsweredCalls, RunClient, RunScope, RunTrace};
use sandbox::{CallContext, HostCall, RunClock};
use serde_json::{Map, Value, json};
use store::{Front, Refused};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use types::{Fault, GuestError, Limits, Outcome, RunProfile, SessionFate, Status};

use crate::Caller;
use crate::call_error::CallError;

/// Longest duration of a call; equals the default for a program.
const LONGEST_WAIT: Duration = Limits::DEFAULT_MAX_WALL_TIME;

impl Caller {
    /// Calls a tool; returns the server's complete `CallToolResult`. `cancel` ends the call.
    ///
    /// # Errors
    /// The tool is unknown, the call was refused or cancelled, or the server failed.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        cancel: CancellationToken,
    ) -> Result<Value, CallError> {
        self.call_through(Front::Call, tool, arguments, cancel).await
    }

    /// Like `call`, for every caller inside this crate.
    pub(crate) async fn call_through(
        &self,
        front: Front,
        tool: &str,
        arguments: Map<String, Value>,
        cancel: CancellationToken,
    ) -> Result<Value, CallError> {
        if let Some(file) = self.shared.broker.file_named(tool).await {
            return self.call_in_sandbox(&file, arguments, cancel).await;
        }
        let attempt = self.attempt(front, None, None, None);
        let mut record = self.shared.records.attempt(attempt);
        record.accepted(None);
        if let Err(error) = record.begin().await {
            // Do not wait for this record.
            let _ = record.refuse(Refused::NotRecorded).await;
            return Err(CallError::NotRecorded(error));
        }
        record.begun();
        let called = self.call_found(&record, tool, arguments, &cancel).await;
        let outcome = match cancel.is_cancelled() {
            true => ended(Status::Cancelled, Some("Withdrawn")),
            false => outcome(&called),
        };
        let recorded = record.ended(&outcome, None).await;
        recorded.map_err(CallError::EndNotRecorded)?;
        called
    }

    async fn call_found(
        &self,
        record: &store::RunRecord,
        tool: &str,
        arguments: Map<String, Value>,
        cancel: &CancellationToken,
    ) -> Result<Value, CallError> {
        let found = cancel.run_until_cancelled(self.find(tool)).await;
        let entry = found.unwrap_or(Err(CallError::Cancelled))?;
        let calls = self.calls(RunScope {
            run: record.run().clone(),
            profile: RunProfile::default(),
            observer: None,
            done: AnsweredCalls::default(),
            client: RunClient::default(),
            trace: RunTrace::default(),
        });
        let call = HostCall {
            name: "tool".to_owned(),
            args: json!({"server": entry.tool.server, "tool": entry.tool.tool, "args": arguments}),
        };
        let context = CallContext {
            cancel: cancel.clone(),
            clock: RunClock::until(Instant::now() + LONGEST_WAIT),
        };
        let answer = calls.call(call, context).await?;
        serde_json::from_str(answer.get()).map_err(CallError::NotJson)
    }
}

/// The outcome of a command-line call, as a run with one host call.
fn outcome(called: &Result<Value, CallError>) -> Outcome {
    match called {
        Ok(answer) if answer["isError"] == true => ended(Status::Failed, Some("tool_error")),
        Ok(_) => ended(Status::Completed, None),
        Err(failed) => match failed.fault() {
            Fault::Caller => ended(Status::Failed, Some("caller")),
            Fault::Upstream => ended(Status::Failed, Some("upstream")),
        },
    }
}

fn ended(status: Status, kind: Option<&str>) -> Outcome {
    let error = kind.map(|kind| GuestError {
        kind: kind.to_owned(),
        ..GuestError::default()
    });
    let mut outcome = Outcome::bare(status, SessionFate::Kept, error);
    outcome.usage.host_calls = 1;
    outcome
}
