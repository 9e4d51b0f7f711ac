//! What the `bridge` surface needs of the core: selecting servers and running programs. `server` implements it.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;

use accounting::{Receipt, ReceiptInput};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use types::{Activity, BridgeServers, RunId};

use crate::error::RunError;
use crate::execute::Execute;
use crate::report::RunReport;

/// Runs programs that reach the servers named in each call.
pub trait BridgeService: Send + Sync + 'static {
    /// Finds these servers in the current definitions. Starts none.
    ///
    /// # Errors
    /// A name that no definition has.
    fn select(&self, servers: &[String]) -> impl Future<Output = Result<Selected, RunError>> + Send;

    /// Runs one program to its end. When `cancel` is triggered, the run ends soon as cancelled. `activity` receives what the
    /// run is doing. The run enters the queue of the session when the future is first polled.
    fn run_python(
        &self,
        run: Execute,
        cancel: CancellationToken,
        activity: Option<watch::Sender<Activity>>,
    ) -> impl Future<Output = Result<RunReport, RunError>> + Send;

    /// Counts what a run cost and records it; `None` if tokens cannot be counted.
    fn receipt(&self, run: &RunId, input: ReceiptInput) -> impl Future<Output = Option<Receipt>> + Send;

    /// Records a program that was not run because its arguments are wrong.
    fn refused(&self, code: Option<&str>) -> impl Future<Output = ()> + Send;
}

/// Servers that a program may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Selected {
    /// Their configured names, sorted.
    pub names: Arc<BTreeSet<String>>,
    /// What the guest receives about these servers and all others.
    pub told: Arc<BridgeServers>,
}
