//! The broker's interface: searches, look-ups, relayed requests, and the host calls of runs.

use std::sync::Arc;
use std::time::Duration;

use catalog::{Catalog, Entry, Search};
use policy::{Admission, Denied, Policy};
use sandbox::HostCalls;
use serde_json::value::RawValue;
use store::{Learning, Records, Saved};
use tokio_util::sync::CancellationToken;
use tool_files::{Finding, ScannedTools, Scanner};
use types::{HostCallError, Principal, RunId, ToolRef};
use upstream::{Hub, RelayRequest, ServerConfig};

use crate::answers::{Detail, SearchAnswer};
use crate::call::RelayError;
use crate::core::Core;
use crate::learner::LearnedTypes;
use crate::run::RunCalls;
use crate::scope::RunScope;
use crate::server_summaries::ServerSummary;

/// Answers host calls. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Broker {
    pub(crate) core: Arc<Core>,
}

// === impl Broker ===

impl Broker {
    /// Connects the hub, the tool files, the policy, the records, what programs save and what is learned; starts nothing.
    pub fn new(
        hub: Hub,
        files: Scanner,
        policy: Arc<Policy>,
        records: Records,
        saved: Saved,
        learning: Learning,
    ) -> Broker {
        Broker {
            core: Arc::new(Core::new(hub, files, policy, records, saved, learning)),
        }
    }

    /// The catalog of what the hub lists now.
    pub async fn catalog(&self) -> Arc<Catalog> {
        self.core.snapshot.current().await
    }

    /// Looks whether tool files have come, changed or gone; whether any has.
    pub async fn look(&self) -> bool {
        self.core.look().await
    }

    /// The directories of tool files whose tools are in the catalog.
    pub fn directories(&self) -> Vec<String> {
        self.core.lists.directories()
    }

    /// The names in programs of all servers and directories of tool files of which `principal` may see something, sorted;
    /// starts no server, and waits for none.
    pub async fn server_names(&self, principal: &Principal) -> Vec<String> {
        self.look().await;
        self.core.server_names(principal)
    }

    /// The tool of `SERVER.TOOL` if it is a file, which runs where programs run. Asks no server.
    pub async fn file_named(&self, name: &str) -> Option<ToolRef> {
        // No name of a file holds a dot.
        let (server, tool) = name.split_once('.')?;
        let catalog = self.core.snapshot.current().await;
        let found = &catalog.resolve(server, tool).ok()?.tool;
        self.core.lists.file(found).map(|_| found.clone())
    }

    /// The tool files as they were last found.
    pub fn files_found(&self) -> Arc<ScannedTools> {
        self.core.lists.found()
    }

    /// What is wrong with the tool files.
    pub fn findings(&self) -> Vec<Finding> {
        self.core.lists.findings()
    }

    /// What was observed of the results of tools that declare none, in the calls of `principal`.
    pub async fn learned(&self, principal: &Principal) -> LearnedTypes {
        self.core.learner.learned(principal).await
    }

    /// Lets go of what is known of the results of a principal's calls; what is recorded stays.
    pub fn forget(&self, principal: &Principal) {
        self.core.learner.forget(principal);
    }

    /// Reads in the background what earlier processes learned.
    pub fn warm(&self) {
        self.core.learner.warm();
    }

    /// Writes what was learned last.
    pub async fn close(&self) {
        self.core.learner.close().await;
    }

    /// Finds tools that `principal` may call, `limit` at most; asks servers that were never asked before.
    pub async fn search(
        &self,
        principal: &Principal,
        query: &str,
        limit: usize,
        detail: Detail,
    ) -> SearchAnswer {
        self.core.search(principal, query, limit, detail).await
    }

    /// All servers with the number of tools that `principal` may call; asks servers that were never asked before.
    pub async fn server_summaries(&self, principal: &Principal) -> Vec<ServerSummary> {
        self.core.server_summaries(principal).await
    }

    /// Reads the search over everything that is listed now, on a thread of its own; asks servers that were never asked, for
    /// at most `patience`. `None` if that thread failed.
    pub async fn searching<T: Send + 'static>(
        &self,
        patience: Duration,
        read: impl FnOnce(&Search) -> T + Send + 'static,
    ) -> Option<T> {
        self.look().await;
        let snapshot = &self.core.snapshot;
        if !snapshot.lists().iter().all(|server| server.tools.is_some()) {
            // A listing says which of them failed and why.
            let _ = self.core.hub.discover(patience).await;
        }
        let searched = snapshot.search_of_present_lists().await;
        tokio::task::spawn_blocking(move || read(&searched.search))
            .await
            .inspect_err(|error| tracing::error!(%error, "reading the search failed"))
            .ok()
    }

    /// The tool of these names, for showing it; asks its server for its tools if need be.
    pub async fn resolve(
        &self,
        principal: &Principal,
        server: &str,
        tool: &str,
    ) -> Result<Arc<Entry>, HostCallError> {
        self.core.resolve(principal, server, tool).await
    }

    /// The tool of `SERVER.TOOL`; either name may hold dots itself.
    pub async fn named(&self, principal: &Principal, name: &str) -> Result<Arc<Entry>, HostCallError> {
        self.core.named(principal, name).await
    }

    /// Puts other definitions in the place of those there are, and their rules first: no tool is called by rules that were
    /// written before its server.
    pub fn replace(&self, servers: Vec<ServerConfig>) {
        self.core.follow(&servers);
        self.core.hub.replace(servers);
    }

    /// Decides whether `principal` may call the tool.
    ///
    /// # Errors
    /// The rule that it is against.
    pub fn admit(&self, principal: &Principal, tool: &ToolRef) -> Result<Admission, Denied> {
        self.core.admit(principal, tool)
    }

    /// Whether the policy lets `principal` call the tool.
    pub fn may_call(&self, principal: &Principal, entry: &Entry) -> bool {
        self.core.may_call(principal, entry)
    }

    /// What answers the host calls of one run of `principal`.
    pub fn calls(&self, principal: Principal, run: RunScope) -> Arc<dyn HostCalls> {
        Arc::new(RunCalls::new(self.core.clone(), principal, run))
    }

    /// Sends a client's request to a server. The policy decides on it as on a tool: the tool of a `tools/call`, otherwise
    /// a tool with the name of the method, such as `resources/read`. With a `run`, the request is recorded as a call of
    /// that run. `cancel` ends the request; its record then says so.
    ///
    /// # Errors
    /// The policy refused, the server failed, or the request was cancelled.
    pub async fn relay(
        &self,
        principal: &Principal,
        run: Option<&RunId>,
        request: RelayRequest,
        cancel: &CancellationToken,
    ) -> Result<Box<RawValue>, RelayError> {
        self.core.relay(principal, run, request, cancel).await
    }
}
