//! Calls one tool, for the command line and for clients that see it: by the same path as a program's call.

pub(crate) mod adopting;
mod in_sandbox;
mod printing;

pub use printing::Printed;
pub(crate) use printing::Printing;

use std::time::Duration;

use broker::{Done, RunScope};
use sandbox::{HostCall, HostCallError};
use serde_json::{Map, Value, json};
use store::{Front, Refused};
use types::{GuestError, Limits, Outcome, RunProfile, SessionFate, Status};

use crate::Caller;

/// The longest that a call may take: as long as a program may.
const LONGEST_WAIT: Duration = Limits::DEFAULT_MAX_WALL_TIME;

/// Why a call did not come to an answer.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct CallFailed {
    /// What happened and what to do.
    pub message: String,
    /// Whose failure it is.
    pub fault: Fault,
}

/// Whose failure it is that a call came to no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The names, the arguments, or the policy forbids it.
    Caller,
    /// The upstream server.
    Upstream,
}

impl Caller {
    /// Calls a tool; the answer is the server's `CallToolResult` with all its fields.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Value, CallFailed> {
        self.call_through(Front::Call, tool, arguments).await
    }

    /// The same through any door.
    pub(crate) async fn call_through(
        &self,
        front: Front,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<Value, CallFailed> {
        if let Some(file) = self.shared.broker.file_named(tool).await {
            return self.call_in_sandbox(&file, arguments).await;
        }
        let attempt = self.attempt(front, None, None, None);
        let mut record = self.shared.records.attempt(attempt);
        record.accepted(None);
        if let Err(error) = record.begin().await {
            // Whether this much can be written is not waited for.
            let _ = record.refuse(Refused::NotRecorded).await;
            return Err(CallFailed {
                message: format!("the tool was not called: {error}"),
                fault: Fault::Caller,
            });
        }
        record.begun();
        let called = self.call_found(&record, tool, arguments).await;
        let recorded = record.ended(&outcome(&called), None).await;
        recorded.map_err(|error| CallFailed {
            message: format!("the tool was called and its answer is withheld: {error}"),
            fault: Fault::Caller,
        })?;
        called
    }

    async fn call_found(
        &self,
        record: &store::RunRecord,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<Value, CallFailed> {
        let entry = self.find(tool).await?;
        let calls = self.calls(RunScope {
            run: record.run().clone(),
            wall_time: LONGEST_WAIT,
            profile: RunProfile::default(),
            observer: None,
            done: Done::default(),
            activity: None,
        });
        let call = HostCall {
            name: "tool".to_owned(),
            args: json!({"server": entry.tool.server, "tool": entry.tool.tool, "args": arguments}),
        };
        let answer = calls.call(call).await.map_err(CallFailed::from)?;
        serde_json::from_str(answer.get()).map_err(|error| CallFailed {
            message: format!("the answer is no JSON: {error}"),
            fault: Fault::Upstream,
        })
    }
}

/// A call from the command line as a run that did nothing else.
fn outcome(called: &Result<Value, CallFailed>) -> Outcome {
    let error = |kind: &str| {
        let kind = kind.to_owned();
        Some(GuestError {
            kind,
            ..GuestError::default()
        })
    };
    let (status, error) = match called {
        Ok(answer) if answer["isError"] == true => (Status::Failed, error("tool_error")),
        Ok(_) => (Status::Completed, None),
        Err(failed) => match failed.fault {
            Fault::Caller => (Status::Failed, error("caller")),
            Fault::Upstream => (Status::Failed, error("upstream")),
        },
    };
    let mut outcome = Outcome::bare(status, SessionFate::Kept, error);
    outcome.usage.host_calls = 1;
    outcome
}

impl From<HostCallError> for CallFailed {
    fn from(error: HostCallError) -> Self {
        let fault = match error.kind.as_str() {
            "upstream" | "timeout" | "cancelled" | "tool" => Fault::Upstream,
            _ => Fault::Caller,
        };
        let message = match error.hint {
            Some(hint) => format!("{}; {hint}", error.message),
            None => error.message,
        };
        Self { message, fault }
    }
}
