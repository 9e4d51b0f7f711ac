//! The broker's face: searching, looking up, and answering the host calls of runs.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use catalog::{Catalog, Entry, Hit, Search};
use policy::{Admission, Denied, Policy};
use sandbox::{HostCallError, HostCalls};
use store::{Learning, Records, Saved};
use tool_files::{Finding, Found, Scanner};
use types::{Principal, Reach, ServerTools, ToolRef};
use upstream::{Hub, ServerConfig};

use crate::answers::{
    self, DescribedTool, Detail, FoundTool, SearchAnswer, ServerAnswer, ToolAnswer, ToolsAnswer,
};
use crate::checks::Checks;
use crate::error;
use crate::learner::{LearnedTypes, Learner};
use crate::local::{Lists, Local};
use crate::overview::ServerOverview;
use crate::run::{RunCalls, RunScope};
use crate::saved::Keeper;
use crate::snapshot::Snapshot;

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
    /// The operator's rules with those of the servers that are defined now.
    policy: RwLock<Arc<Policy>>,
    pub(crate) snapshot: Snapshot,
    pub(crate) local: Local,
    pub(crate) lists: Lists,
    pub(crate) records: Records,
    pub(crate) keeper: Keeper,
    pub(crate) learner: Learner,
    pub(crate) checks: Arc<Checks>,
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
        let local = Local::new(files);
        let lists = local.beside(hub.tools());
        let snapshot = Snapshot::new(lists.clone());
        Broker {
            shared: Arc::new(Shared {
                hub,
                policy: RwLock::new(policy),
                snapshot,
                local,
                lists,
                learner: Learner::new(learning, records.clone()),
                records,
                keeper: Keeper::new(saved),
                checks: Arc::default(),
            }),
        }
    }

    /// The catalog of what the hub lists now.
    pub async fn catalog(&self) -> Arc<Catalog> {
        self.shared.snapshot.current().await
    }

    /// Looks whether tool files have come, changed or gone; whether any has.
    pub async fn look(&self) -> bool {
        self.shared.look().await
    }

    /// The directories of tool files whose tools are in the catalog.
    pub fn directories(&self) -> Vec<String> {
        self.shared.lists.directories()
    }

    /// The names in programs of all servers and directories of tool files of which `principal` may see something, sorted;
    /// starts no server, and waits for none.
    pub async fn server_names(&self, principal: &Principal) -> Vec<String> {
        self.look().await;
        self.shared.server_names(principal)
    }

    /// The tool of `SERVER.TOOL` if it is a file, which runs where programs run. Asks no server.
    pub async fn file_named(&self, name: &str) -> Option<ToolRef> {
        // No name of a file holds a dot.
        let (server, tool) = name.split_once('.')?;
        let catalog = self.shared.snapshot.current().await;
        let found = &catalog.resolve(server, tool).ok()?.tool;
        self.shared.lists.file(found).map(|_| found.clone())
    }

    /// The tool files as they were last found.
    pub fn files_found(&self) -> Arc<Found> {
        self.shared.lists.found()
    }

    /// What is wrong with the tool files.
    pub fn findings(&self) -> Vec<Finding> {
        self.shared.lists.findings()
    }

    /// What was observed of the results of tools that declare none, in the calls of `principal`.
    pub async fn learned(&self, principal: &Principal) -> LearnedTypes {
        self.shared.learner.learned(principal).await
    }

    /// Lets go of what is known of the results of a principal's calls; what is recorded stays.
    pub fn forget(&self, principal: &Principal) {
        self.shared.learner.forget(principal);
    }

    /// Reads in the background what earlier processes learned.
    pub fn warm(&self) {
        self.shared.learner.warm();
    }

    /// Writes what was learned last.
    pub async fn close(&self) {
        self.shared.learner.close().await;
    }

    /// Finds tools that `principal` may call, `limit` at most; asks servers that were never asked before.
    pub async fn search(
        &self,
        principal: &Principal,
        query: &str,
        limit: usize,
        detail: Detail,
    ) -> SearchAnswer {
        self.shared.search(principal, query, limit, detail).await
    }

    /// All servers with the number of tools that `principal` may call; asks servers that were never asked before.
    pub async fn overview(&self, principal: &Principal) -> Vec<ServerOverview> {
        self.shared.overview(principal).await
    }

    /// Reads the search over everything that is listed now, on a thread of its own; asks servers that were never asked, for
    /// at most `patience`. `None` if that thread failed.
    pub async fn searching<T: Send + 'static>(
        &self,
        patience: Duration,
        read: impl FnOnce(&Search) -> T + Send + 'static,
    ) -> Option<T> {
        self.look().await;
        let snapshot = &self.shared.snapshot;
        if !snapshot.lists().iter().all(|server| server.tools.is_some()) {
            // A listing says which of them failed and why.
            let _ = self.shared.hub.discover(patience).await;
        }
        let searched = snapshot.searched_by(true).await;
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
        self.shared.resolve(principal, server, tool).await
    }

    /// The tool of `SERVER.TOOL`; either name may hold dots itself.
    pub async fn named(&self, principal: &Principal, name: &str) -> Result<Arc<Entry>, HostCallError> {
        self.shared.named(principal, name).await
    }

    /// Puts other definitions in the place of those there are, and their rules first: no tool is called by rules that were
    /// written before its server.
    pub fn replace(&self, servers: Vec<ServerConfig>) {
        self.shared.follow(&servers);
        self.shared.hub.replace(servers);
    }

    /// Decides whether `principal` may call the tool.
    ///
    /// # Errors
    /// The rule that it is against.
    pub fn admit(&self, principal: &Principal, tool: &ToolRef) -> Result<Admission, Denied> {
        self.shared.policy().admit(principal, tool)
    }

    /// Whether the policy lets `principal` call the tool.
    pub fn may_call(&self, principal: &Principal, entry: &Entry) -> bool {
        self.shared.may_call(principal, entry)
    }

    /// What answers the host calls of one run of `principal`.
    pub fn calls(&self, principal: Principal, run: RunScope) -> Arc<dyn HostCalls> {
        Arc::new(RunCalls::new(self.shared.clone(), principal, run))
    }
}

// === impl Shared ===

impl Shared {
    /// Looks whether tool files have come, changed or gone, and logs what is wrong with new ones; whether any has.
    pub(crate) async fn look(&self) -> bool {
        self.local.look(&self.lists).await
    }

    /// The rules as they are now.
    pub(crate) fn policy(&self) -> Arc<Policy> {
        let policy = self.policy.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&policy)
    }

    fn follow(&self, servers: &[ServerConfig]) {
        let mut policy = self.policy.write().unwrap_or_else(PoisonError::into_inner);
        *policy = Arc::new(policy.with_servers(servers.iter().map(ServerConfig::rules)));
    }

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
        let has_changed = self.look().await;
        let before = self.snapshot.lists();
        let mut pending = self.discover(&before).await;
        let has_waited = has_changed || !unread(&listed(&before), &self.snapshot.lists()).is_empty();
        let searched = self.snapshot.searched_by(has_waited).await;
        let (search, lists) = (&searched.search, self.snapshot.lists());
        pending.extend(unread(&read(search.catalog()), &lists));
        // What was searched may be older than the lists: what is gone is not named, what has changed is shown as it is now.
        let present = search.catalog().present(&lists);
        let found = search.find(query, |entry| {
            self.may_call(principal, entry) && present.lists(&entry.tool)
        });
        let learned = self.learner.learned(principal).await;
        let shown = |hits: &[Hit<'_>], most: usize| -> Vec<FoundTool> {
            let current = hits
                .iter()
                .filter_map(|hit| Some((present.entry(hit.entry)?, hit.score)));
            let shown = current.take(most);
            shown
                .map(|(entry, score)| FoundTool::of(&entry, score, detail, learned.of(&entry).as_deref()))
                .collect()
        };
        SearchAnswer {
            tools: shown(&found.hits, limit),
            more: found.hits.len().saturating_sub(limit),
            nearest: shown(&found.nearest, limit),
            pending,
            note: None,
        }
        .explained()
    }

    /// Asks servers that were never asked for their tools; the names of those that are still starting.
    async fn discover(&self, lists: &[ServerTools]) -> Vec<String> {
        match lists.iter().all(|server| server.tools.is_some()) {
            true => Vec::new(),
            false => self.hub.discover(DISCOVERY).await,
        }
    }

    /// A catalog in which every server that could has listed its tools.
    pub(crate) async fn discovered(&self) -> Arc<Catalog> {
        self.discover(&self.snapshot.lists()).await;
        self.snapshot.current().await
    }

    /// Refuses a server that the run has not loaded; none of its processes is started for that.
    pub(crate) async fn within(&self, reach: &Reach, server: &str) -> Result<(), HostCallError> {
        if matches!(reach, Reach::All) {
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
        self.policy().admit(principal, &entry.tool).is_ok()
    }

    /// All servers; starts nothing.
    pub(crate) async fn servers(&self, reach: &Reach) -> Vec<ServerAnswer> {
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
        reach: &Reach,
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
        let learned = self.learner.learned(principal).await;
        let answer = |entry: &Arc<Entry>| ToolAnswer::of(entry, detail, learned.of(entry).as_deref());
        Ok(ToolsAnswer {
            name: server.name.clone(),
            alias: server.alias.clone(),
            description: server.description.clone(),
            cwd: answers::cwd(server, reach),
            tools: visible.map(answer).collect(),
        })
    }

    /// One tool that `principal` may call, by two names or as `SERVER.TOOL`; asks its server if need be.
    pub(crate) async fn describe(
        &self,
        principal: &Principal,
        server: Option<&str>,
        tool: &str,
    ) -> Result<DescribedTool, HostCallError> {
        let entry = match server {
            Some(server) => self.resolve(principal, server, tool).await?,
            None => self.named(principal, tool).await?,
        };
        let _admission = self.admit(principal, &entry.tool)?;
        let learned = self.learner.learned(principal).await;
        Ok(DescribedTool {
            server: entry.tool.server.clone(),
            tool: ToolAnswer::of(&entry, Detail::Full, learned.of(&entry).as_deref()),
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

/// The servers that have listed their tools, and are not among these.
fn unread(known: &HashSet<&str>, lists: &[ServerTools]) -> Vec<String> {
    let listed = listed(lists).into_iter();
    let mut unread: Vec<String> = listed
        .filter(|name| !known.contains(name))
        .map(str::to_owned)
        .collect();
    unread.sort_unstable();
    unread
}

fn listed(lists: &[ServerTools]) -> HashSet<&str> {
    let listed = lists.iter().filter(|server| server.tools.is_some());
    listed.map(|server| server.name.as_str()).collect()
}

/// The servers of which a catalog has the tools.
fn read(catalog: &Catalog) -> HashSet<&str> {
    let listed = catalog.servers().filter(|server| server.listed);
    listed.map(|server| server.name.as_str()).collect()
}
