//! The run that a call belongs to.

use std::sync::Arc;

use tokio::sync::watch;
use types::{Activity, RunId, RunProfile};

use crate::answered_calls::AnsweredCalls;
use crate::observer::CallObserver;

/// The facts about a run that its calls need.
#[derive(Debug, Clone)]
pub struct RunScope {
    /// Handle of the run.
    pub run: RunId,
    /// How the surface interprets the run.
    pub profile: RunProfile,
    /// Observes the tool calls, if tokens are counted.
    pub observer: Option<Arc<dyn CallObserver>>,
    /// Collects the run's successful calls.
    pub done: AnsweredCalls,
    /// Receives the activity, if a client wants progress.
    pub activity: Option<watch::Sender<Activity>>,
}
