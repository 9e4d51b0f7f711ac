//! The core's interface for the `code` surface: runs programs and finds tools; implemented by `server`.

use std::error::Error;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use accounting::{Receipt, ReceiptInput};
use broker::{Detail, RunClient, SearchAnswer, ServerSummary};
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use types::{RunId, ServerTools, SessionName, Tool};
use workspace::{Artifacts, ReadError};

use crate::error::{ArtifactsError, RunError};
use crate::execute::Execute;
use crate::report::RunReport;

/// Runs programs and finds tools for one client.
pub trait CodeService: Send + Sync + 'static {
    /// The error of a call of an exposed tool.
    type CallError: Error + Send;

    /// Runs a program until it ends. `cancel` cancels the run; `client` receives its activity and questions. The first
    /// poll puts the run into its session's queue.
    fn execute(
        &self,
        request: Execute,
        cancel: CancellationToken,
        client: RunClient,
    ) -> impl Future<Output = Result<RunReport, RunError>> + Send;

    /// Records a program that was not run because of wrong arguments.
    fn refused(&self, code: Option<&str>) -> impl Future<Output = ()> + Send;

    /// Program names of the servers that the client may see, sorted; empty if the settings hide them. Starts no server
    /// and waits for none.
    fn server_names(&self) -> impl Future<Output = Vec<String>> + Send;

    /// The tools that `[expose]` names, in their current definitions.
    fn exposed(&self) -> impl Future<Output = Vec<ExposedTool>> + Send;

    /// Calls an exposed tool by the name `server.tool`. Returns the server's `CallToolResult`. `cancel` ends the call.
    fn call_exposed(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        cancel: CancellationToken,
    ) -> impl Future<Output = Result<Value, Self::CallError>> + Send;

    /// The servers' tool lists; the receiver reports each change.
    fn listed(&self) -> watch::Receiver<Arc<Vec<ServerTools>>>;

    /// Counts and records a run's cost; `None` if tokens cannot be counted.
    fn receipt(&self, run: &RunId, input: ReceiptInput) -> impl Future<Output = Option<Receipt>> + Send;

    /// Finds tools.
    fn search(&self, request: Search) -> impl Future<Output = SearchAnswer> + Send;

    /// Every connected server.
    fn server_summaries(&self) -> impl Future<Output = Vec<ServerSummary>> + Send;

    /// Files that the client's programs wrote to `/results`, newest first.
    fn artifacts(&self) -> impl Future<Output = Result<Artifacts, ArtifactsError>> + Send;

    /// The content of one of these files, if it has at most `most` bytes.
    fn read_artifact(
        &self,
        session: SessionName,
        path: PathBuf,
        most: u64,
    ) -> impl Future<Output = Result<Vec<u8>, ReadError>> + Send;
}

/// An upstream tool shown beside the surface's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExposedTool {
    /// Configured name.
    pub server: String,
    /// Prefix of the exposed name.
    pub alias: String,
    /// The definition as the server sent it.
    pub definition: Arc<Tool>,
}

/// A search with checked arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// The query; an empty query requests the connected servers.
    pub query: String,
    /// Maximum number of tools in the answer.
    pub limit: usize,
    /// Detail of each tool in the answer.
    pub detail: Detail,
}
