//! Which run makes a call, and what it may do at most.

use std::sync::Arc;

use tokio::sync::watch;
use types::{Activity, RunId, RunProfile};

use crate::done::Done;
use crate::observer::CallObserver;

/// A run as its calls see it.
#[derive(Debug, Clone)]
pub struct RunScope {
    /// Its handle.
    pub run: RunId,
    /// What the surface means by the run.
    pub profile: RunProfile,
    /// Observes its tool calls.
    pub observer: Option<Arc<dyn CallObserver>>,
    /// Takes note of its calls that succeed.
    pub done: Done,
    /// Hears what it is doing, if somebody waits for it.
    pub activity: Option<watch::Sender<Activity>>,
}
