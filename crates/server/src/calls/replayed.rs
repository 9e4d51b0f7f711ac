//! Answers host calls from a recording instead of from servers.

use std::sync::{Arc, Mutex, PoisonError};

use replay::{HostAnswer, RecordedAnswers};
use sandbox::{BoxFuture, CallContext, HostCall, HostCalls};
use types::{HostCallError, HostCallErrorKind};

/// The host calls of a run that is repeated against its recording. Nothing is sent to a server.
pub(crate) struct ReplayedCalls {
    /// Knows the names of today.
    live: Arc<dyn HostCalls>,
    /// Servers of the recorded calls, which may be gone today.
    recorded_names: Vec<String>,
    answers: Mutex<RecordedAnswers>,
}

// === impl ReplayedCalls ===

impl ReplayedCalls {
    pub(crate) fn new(live: Arc<dyn HostCalls>, answers: RecordedAnswers) -> ReplayedCalls {
        let servers = answers.left().filter_map(|call| call.args["server"].as_str());
        ReplayedCalls {
            live,
            recorded_names: servers.map(str::to_owned).collect(),
            answers: Mutex::new(answers),
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

    fn call(&self, call: HostCall, _context: CallContext) -> BoxFuture<'_, HostAnswer> {
        Box::pin(std::future::ready(self.answer(&call)))
    }
}
