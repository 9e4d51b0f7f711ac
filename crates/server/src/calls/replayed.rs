//! Answers host calls from a recording instead of from servers.

use std::sync::{Arc, Mutex, PoisonError};

use replay::{HostAnswer, RecordedAnswers};
use sandbox::{BoxFuture, CallContext, HostCall, HostCalls};
use serde::Serialize;
use types::{HostCallError, HostCallErrorKind, RunInputs};

/// The host calls of a run that is repeated against its recording. Nothing is sent to a server.
pub(crate) struct ReplayedCalls {
    /// Knows the names of today.
    live: Arc<dyn HostCalls>,
    /// Servers of the recorded calls, which may be gone today.
    recorded_names: Vec<String>,
    answers: Mutex<RecordedAnswers>,
    inputs: Option<RunInputs>,
}

/// What a recording gives to a repeated run.
pub(crate) struct RecordedSide {
    pub(crate) answers: RecordedAnswers,
    /// `None` in recordings of earlier versions.
    pub(crate) inputs: Option<RunInputs>,
}

/// The list of a program that read nothing.
#[derive(Serialize)]
struct NoReads {}

// === impl ReplayedCalls ===

impl ReplayedCalls {
    pub(crate) fn new(live: Arc<dyn HostCalls>, recorded: RecordedSide) -> ReplayedCalls {
        let RecordedSide { answers, inputs } = recorded;
        let servers = answers.left().filter_map(|call| call.args["server"].as_str());
        ReplayedCalls {
            live,
            recorded_names: servers.map(str::to_owned).collect(),
            answers: Mutex::new(answers),
            inputs: inputs.map(|inputs| RunInputs {
                // A list, even an empty one, makes the guest answer from it.
                reads: inputs
                    .reads
                    .or_else(|| serde_json::value::to_raw_value(&NoReads {}).ok()),
                ..inputs
            }),
        }
    }

    fn answer(&self, call: &HostCall) -> HostAnswer {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = answers.take(&call.name, &call.args);
        answer.unwrap_or_else(|why| {
            let message = format!("replay: {why}");
            Err(HostCallError::new(HostCallErrorKind::Refused, message))
        })
    }
}

impl HostCalls for ReplayedCalls {
    fn names(&self) -> Option<Vec<String>> {
        let mut names = self.live.names()?;
        for name in &self.recorded_names {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        Some(names)
    }

    fn inputs(&self) -> Option<RunInputs> {
        self.inputs.clone()
    }

    fn call(&self, call: HostCall, _context: CallContext) -> BoxFuture<'_, HostAnswer> {
        Box::pin(std::future::ready(self.answer(&call)))
    }
}
