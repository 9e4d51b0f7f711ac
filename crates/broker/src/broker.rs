//! The broker's face: searching, looking up, and answering the host calls of runs.

use std::sync::Arc;
use std::time::Duration;

use catalog::{Catalog, Entry};
use policy::Policy;
use sandbox::{HostCallError, HostCalls};
use store::{Records, Saved};
use types::Principal;
use upstream::Hub;

use crate::answers::{self, Detail, FoundTool, SearchAnswer, ServerAnswer, ToolAnswer, ToolsAnswer};
use crate::error;
use crate::run::{Reach, RunCalls, RunScope};
use crate::saved::Keeper;
use crate::snapshot::Snapshot;

/// Most tools that one search returns.
pub const MAX_SEARCH_LIMIT: usize = 100;

/// How long a search waits for servers that were never asked for their tools.
const DISCOVERY: Duration = Duration::from_secs(5);

/// Answers host calls. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Broker {
    pub(crate) shared: Arc<Shared>,
}

/// What all runs share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) hub: Hub,
    pub(crate) policy: Arc<Policy>,
    pub(crate) snapshot: Snapshot,
    pub(crate) records: Records,
    pub(crate) keeper: Keeper,
}

// === impl Broker ===

impl Broker {
    /// Connects the hub, the policy, the records and what programs save; starts nothing.
    pub fn new(hub: Hub, policy: Arc<Policy>, records: Records, saved: Saved) -> Broker {
        let snapshot = Snapshot::new(hub.tools());
        Broker {
            shared: Arc::new(Shared {
                hub,
                policy,
                snapshot,
                records,
                keeper: Keeper::new(saved),
            }),
        }
    }

    /// The catalog of what the hub lists now.
    pub async fn catalog(&self) -> Arc<Catalog> {
        self.shared.snapshot.current().await
    }

    /// Finds tools that `principal` may call; asks servers that were never asked before.
    pub async fn search(
        &self,
        principal: &Principal,
        query: &str,
        limit: usize,
        detail: Detail,
    ) -> SearchAnswer {
        self.shared.search(principal, query, limit, detail).await
    }

    /// The tool of these names, for showing it; asks its server for its tools if need be.
    pub async fn resolve(
        &self,
        principal: &Principal,
        server: &str,
        tool: &str,
    ) -> Result<Arc<Entry>, HostCallError> {
        self.shared.resolve(principal, server, tool).await
    }

    /// What answers the host calls of one run of `principal`.
    pub fn calls(&self, principal: Principal, run: RunScope) -> Arc<dyn HostCalls> {
        Arc::new(RunCalls::new(self.shared.clone(), principal, run))
    }
}

// === impl Shared ===

impl Shared {
    /// Makes sure that the tools of this server are known.
    pub(crate) async fn list(&self, server: &str) -> Result<(), HostCallError> {
        self.hub
            .list(server)
            .await
            .map_err(|failed| error::upstream(&failed))
    }

    pub(crate) async fn search(
        &self,
        principal: &Principal,
        query: &str,
        limit: usize,
        detail: Detail,
    ) -> SearchAnswer {
        let (catalog, pending) = self.discovered().await;
        if !catalog.searches_at_once() {
            let unprepared = catalog.clone();
            // If the thread failed, the search below builds the index itself.
            let _ = tokio::task::spawn_blocking(move || unprepared.prepare_search()).await;
        }
        let limit = limit.clamp(1, MAX_SEARCH_LIMIT);
        let hits = catalog.ranked(query);
        let mut visible = hits.iter().filter(|hit| self.may_call(principal, hit.entry));
        let tools: Vec<FoundTool> = visible
            .by_ref()
            .take(limit)
            .map(|hit| FoundTool::of(hit, detail))
            .collect();
        SearchAnswer {
            tools,
            more: visible.count(),
            pending,
        }
    }

    /// A catalog in which every server has listed its tools, and the names of those that are still starting.
    pub(crate) async fn discovered(&self) -> (Arc<Catalog>, Vec<String>) {
        let catalog = self.snapshot.current().await;
        if catalog.servers().all(|server| server.listed) {
            return (catalog, Vec::new());
        }
        let pending = self.hub.discover(DISCOVERY).await;
        (self.snapshot.current().await, pending)
    }

    /// Refuses a server that the run has not loaded; none of its processes is started for that.
    pub(crate) async fn within(&self, reach: Reach<'_>, server: &str) -> Result<(), HostCallError> {
        if matches!(reach, Reach::Every) {
            return Ok(());
        }
        let catalog = self.snapshot.current().await;
        match catalog.server(server) {
            Ok(found) if reach.holds(&found.name) => Ok(()),
            _ => Err(error::not_loaded(server)),
        }
    }

    /// A tool that would be refused is not proposed.
    pub(crate) fn may_call(&self, principal: &Principal, entry: &Entry) -> bool {
        self.policy.authorize(principal, &entry.tool).is_ok()
    }

    /// All servers; starts nothing.
    pub(crate) async fn servers(&self, reach: Reach<'_>) -> Vec<ServerAnswer> {
        let catalog = self.snapshot.current().await;
        let servers = catalog.servers();
        servers.map(|server| ServerAnswer::of(server, reach)).collect()
    }

    /// The tools of one server that `principal` may call; asks the server if need be.
    pub(crate) async fn tools(
        &self,
        principal: &Principal,
        server: &str,
        detail: Detail,
        reach: Reach<'_>,
    ) -> Result<ToolsAnswer, HostCallError> {
        let catalog = self.listed(server).await?;
        let server = catalog
            .server(server)
            .map_err(|unknown| error::unknown(&unknown))?;
        // The definitions may have changed since they were looked at.
        if !reach.holds(&server.name) {
            return Err(error::not_loaded(&server.name));
        }
        let visible = server.entries().filter(|entry| self.may_call(principal, entry));
        Ok(ToolsAnswer {
            name: server.name.clone(),
            alias: server.alias.clone(),
            description: server.description.clone(),
            cwd: answers::cwd(server, reach),
            tools: visible.map(|entry| ToolAnswer::of(entry, detail)).collect(),
        })
    }

    /// A catalog in which this server has listed its tools.
    pub(crate) async fn listed(&self, server: &str) -> Result<Arc<Catalog>, HostCallError> {
        let catalog = self.snapshot.current().await;
        let found = catalog
            .server(server)
            .map_err(|unknown| error::unknown(&unknown))?;
        if found.listed {
            return Ok(catalog);
        }
        self.list(&found.name).await?;
        Ok(self.snapshot.current().await)
    }
}
