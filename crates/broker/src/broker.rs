//! The broker's interface: searches, look-ups, relayed requests, and the host calls of runs.

use std::sync::Arc;
use std::time::Duration;

use catalog::{Catalog, Entry, Search};
use policy::{Admission, Denied, Policy};
use sandbox::HostCalls;
use serde_json::value::RawValue;
use store::{Learning, Records, Saved};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tool_files::{Finding, ScannedTools, Scanner};
use types::{HostCallError, MountRules, Principal, RunId, ServerTools, ToolRef};
use upstream::{Hub, RelayRequest, ServerConfig};

use crate::answers::{Detail, SearchAnswer};
use crate::call::RelayError;
use crate::core::Core;
use crate::learner::LearnedTypes;
use crate::rules::CallRules;
use crate::run::RunCalls;
use crate::scope::RunScope;
use crate::server_summaries::ServerSummary;
use crate::visible_servers::VisibleServers;

/// Answers host calls. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Broker {
    pub(crate) core: Arc<Core>,
}

// === impl Broker ===

impl Broker {
    /// Connects hub, tool files, policy, records, saved values and learned types; starts nothing.
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

    /// The view of a virtual server for callers who may see `servers`: of these, only mounted tools exist there, and
    /// `calls` narrows the policy. The rules of both must be validated before.
    #[must_use]
    pub fn of_virtual_server(
        &self,
        mounts: Option<MountRules>,
        visible: &VisibleServers,
        calls: CallRules,
    ) -> Broker {
        Broker {
            core: Arc::new(self.core.of_virtual_server(mounts, visible, calls)),
        }
    }

    /// The servers of this view with their known lists, as they change.
    pub fn followed_lists(&self) -> watch::Receiver<Arc<Vec<ServerTools>>> {
        self.core.followed_lists()
    }

    /// Number of tools that `principal` may call, as far as lists are known.
    pub async fn count_tools(&self, principal: &Principal) -> usize {
        let catalog = self.catalog().await;
        catalog
            .entries()
            .filter(|entry| self.may_call(principal, entry))
            .count()
    }

    /// Requests unknown lists, at most for `patience`.
    pub async fn discover(&self, patience: Duration) {
        self.core.start_listing(patience).await;
    }

    /// The catalog of the hub's current lists.
    pub async fn catalog(&self) -> Arc<Catalog> {
        self.core.snapshot.current().await
    }

    /// Rescans the tool files; returns whether any file was added, changed or removed.
    pub async fn look(&self) -> bool {
        self.core.look().await
    }

    /// Tool file directories with tools in the catalog.
    pub fn directories(&self) -> Vec<String> {
        self.core.lists.directories()
    }

    /// Program names of all servers and tool file directories visible to `principal`, sorted;
    /// starts no server and waits for none.
    pub async fn server_names(&self, principal: &Principal) -> Vec<String> {
        self.look().await;
        self.core.server_names(principal)
    }

    /// The tool `SERVER.TOOL` if it is a tool file, which runs in the sandbox. Contacts no server.
    pub async fn file_named(&self, name: &str) -> Option<ToolRef> {
        // Names of files contain no dot.
        let (server, tool) = name.split_once('.')?;
        let catalog = self.core.snapshot.current().await;
        let found = &catalog.resolve(server, tool).ok()?.tool;
        self.core.lists.file(found).map(|_| found.clone())
    }

    /// The tool files at the last scan.
    pub fn files_found(&self) -> Arc<ScannedTools> {
        self.core.lists.found()
    }

    /// Problems of the tool files.
    pub fn findings(&self) -> Vec<Finding> {
        self.core.lists.findings()
    }

    /// Observed results of `principal`'s calls, for tools that declare none.
    pub async fn learned(&self, principal: &Principal) -> LearnedTypes {
        self.core.learner.learned(principal).await
    }

    /// Releases the learned types of a principal from memory; records remain.
    pub fn forget(&self, principal: &Principal) {
        self.core.learner.forget(principal);
    }

    /// Reads in the background the types that earlier processes learned.
    pub fn warm(&self) {
        self.core.learner.warm();
    }

    /// Writes the last observations and ends the learner.
    pub async fn close(&self) {
        self.core.learner.close().await;
    }

    /// Finds at most `limit` tools that `principal` may call; requests unknown tool lists.
    pub async fn search(
        &self,
        principal: &Principal,
        query: &str,
        limit: usize,
        detail: Detail,
    ) -> SearchAnswer {
        self.core.search(principal, query, limit, detail.into()).await
    }

    /// All servers with the number of tools that `principal` may call; requests unknown tool lists.
    pub async fn server_summaries(&self, principal: &Principal) -> Vec<ServerSummary> {
        self.core.server_summaries(principal).await
    }

    /// Passes the search index of all current lists to `read` on its own thread. Requests unknown tool lists, within
    /// `patience`. `None` if the thread failed.
    pub async fn searching<T: Send + 'static>(
        &self,
        patience: Duration,
        read: impl FnOnce(&Search) -> T + Send + 'static,
    ) -> Option<T> {
        self.look().await;
        let snapshot = &self.core.snapshot;
        if !snapshot.lists().iter().all(|server| server.tools.is_some()) {
            // The server summaries report which servers failed, and why.
            let _ = self.core.start_listing(patience).await;
        }
        let searched = snapshot.search_of_present_lists().await;
        tokio::task::spawn_blocking(move || read(&searched.search))
            .await
            .inspect_err(|error| tracing::error!(%error, "reading the search failed"))
            .ok()
    }

    /// The tool with these names, for display; lists the server's tools if needed.
    pub async fn resolve(
        &self,
        principal: &Principal,
        server: &str,
        tool: &str,
    ) -> Result<Arc<Entry>, HostCallError> {
        Ok(self.core.resolve(principal, server, tool).await?)
    }

    /// The tool `SERVER.TOOL`; either name may contain dots.
    pub async fn named(&self, principal: &Principal, name: &str) -> Result<Arc<Entry>, HostCallError> {
        self.core.named(principal, name).await
    }

    /// Replaces the definitions. Replaces the rules first, so that no tool of a new server is called under old rules.
    pub fn replace(&self, servers: Vec<ServerConfig>) {
        self.core.follow(&servers);
        self.core.hub.replace(servers);
    }

    /// Decides whether `principal` may call the tool.
    ///
    /// # Errors
    /// The rule that forbids it.
    pub fn admit(&self, principal: &Principal, tool: &ToolRef) -> Result<Admission, Denied> {
        self.core.admit(principal, tool)
    }

    /// Whether the policy lets `principal` call the tool.
    pub fn may_call(&self, principal: &Principal, entry: &Entry) -> bool {
        self.core.may_call(principal, entry)
    }

    /// The handler of one run's host calls.
    pub fn calls(&self, principal: Principal, run: RunScope) -> Arc<dyn HostCalls> {
        Arc::new(RunCalls::new(self.core.clone(), principal, run))
    }

    /// Sends a client's request to a server. The policy judges a `tools/call` by its tool, and any other method as a
    /// tool with the method's name, such as `resources/read`. With a `run`, the request is recorded as a call of that
    /// run. `cancel` ends the request, and the record says so.
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
