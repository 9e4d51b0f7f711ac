//! What stands behind the `bridge` surface: servers are selected, programs are run. `server` connects the real parts.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use types::{Activity, RunId};

use crate::code::{Executed, NotExecuted};
use crate::receipt::Receipt;

/// Runs programs that reach the servers which their caller names.
pub trait BridgeService: Send + Sync + 'static {
    /// Finds these servers among all definitions as they are now. Starts none.
    ///
    /// # Errors
    /// A name that no definition has.
    fn select(&self, servers: &[String]) -> impl Future<Output = Result<Selected, NotExecuted>> + Send;

    /// Runs one program to its end. When `cancel` is triggered it ends soon, with an outcome that says so. `activity`
    /// hears what it is doing. The place in the session's queue is taken when the future is first polled.
    fn run_python(
        &self,
        request: RunPython,
        cancel: CancellationToken,
        activity: Option<watch::Sender<Activity>>,
    ) -> impl Future<Output = Result<Executed, NotExecuted>> + Send;

    /// Takes note of what a run has cost.
    fn receipt(&self, run: &RunId, receipt: &Receipt);

    /// Takes note of a program that was not run because what was asked is wrong.
    fn not_run(&self, code: Option<&str>) -> impl Future<Output = ()> + Send;
}

/// Servers that a program may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Selected {
    /// Their configured names, sorted.
    pub names: Arc<[String]>,
    /// What the guest is told of them, and of all others.
    pub surface: Value,
}

/// One program, its arguments checked.
#[derive(Debug, Clone, PartialEq)]
pub struct RunPython {
    /// The program, never blank.
    pub code: String,
    /// What it may call.
    pub servers: Selected,
    /// Longest duration.
    pub timeout: Duration,
    /// Whether what it costs is counted.
    pub receipt: bool,
}
