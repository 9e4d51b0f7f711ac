//! The core's interface for the `bridge` surface: selects servers and runs programs; implemented by `server`.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;

use accounting::{Receipt, ReceiptInput};
use broker::RunClient;
use tokio_util::sync::CancellationToken;
use types::{BridgeServers, RunId};

use crate::error::RunError;
use crate::execute::Execute;
use crate::report::RunReport;

/// Runs programs that can call the servers named in each request.
pub trait BridgeService: Send + Sync + 'static {
    /// Finds servers in the current definitions. Starts no server.
    ///
    /// # Errors
    /// A name that matches no definition.
    fn select(&self, servers: &[String]) -> impl Future<Output = Result<Selected, RunError>> + Send;

    /// Runs a program until it ends. `cancel` cancels the run; `client` receives its activity and questions. The first
    /// poll puts the run into the session's queue.
    fn run_python(
        &self,
        run: Execute,
        cancel: CancellationToken,
        client: RunClient,
    ) -> impl Future<Output = Result<RunReport, RunError>> + Send;

    /// Counts and records a run's cost; `None` if tokens cannot be counted.
    fn receipt(&self, run: &RunId, input: ReceiptInput) -> impl Future<Output = Option<Receipt>> + Send;

    /// Records a program that was not run because of wrong arguments.
    fn refused(&self, code: Option<&str>) -> impl Future<Output = ()> + Send;
}

/// Servers that a program may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Selected {
    /// Configured names, sorted.
    pub names: Arc<BTreeSet<String>>,
    /// What the guest receives about these servers and all others.
    pub told: Arc<BridgeServers>,
}
