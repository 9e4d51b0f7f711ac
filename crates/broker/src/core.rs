//! The state that all runs of one view share, and look-ups in it: servers, tools, searches.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use catalog::{Catalog, Entry, Hit, Language};
use policy::Policy;
use store::{Learning, Records, Saved};
use tokio::sync::watch;
use tool_files::Scanner;
use types::{HostCallError, MountRules, Principal, Reach, ServerTools};
use upstream::{Hub, ServerConfig};

use crate::answers::{
    self, DescribedTool, Detail, FoundTool, SearchAnswer, ServerAnswer, ToolAnswer, ToolForm, ToolsAnswer,
};
use crate::checks::Checks;
use crate::error;
use crate::learner::Learner;
use crate::local::{Lists, Local};
use crate::mounts::Mounts;
use crate::rules::{CallRules, Rules};
use crate::saved_values::SavedValues;
use crate::seen_snapshots::SeenSnapshots;
use crate::snapshot::Snapshot;
use crate::visible_servers::VisibleServers;

/// Longest wait of a search for servers that never listed their tools.
const DISCOVERY: Duration = Duration::from_secs(5);

/// The state that all runs of one view share: of the whole host, or of a virtual server.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) hub: Hub,
    pub(crate) rules: Rules,
    pub(crate) snapshot: Arc<Snapshot>,
    /// Snapshots of the views without mount rules.
    seen: Arc<SeenSnapshots>,
    pub(crate) local: Arc<Local>,
    pub(crate) lists: Lists,
    pub(crate) records: Records,
    pub(crate) saved: Arc<SavedValues>,
    pub(crate) learner: Learner,
    pub(crate) checks: Arc<Checks>,
    /// The view's lists as they change, once requested.
    followed: OnceLock<watch::Receiver<Arc<Vec<ServerTools>>>>,
}

// === impl Core ===

impl Core {
    pub(crate) fn new(
        hub: Hub,
        files: Scanner,
        policy: Arc<Policy>,
        records: Records,
        saved: Saved,
        learning: Learning,
    ) -> Core {
        let local = Arc::new(Local::new(files));
        let lists = local.beside(hub.tools());
        Core {
            hub,
            seen: Arc::default(),
            rules: Rules::new(policy),
            snapshot: Arc::new(Snapshot::new(lists.clone())),
            local,
            lists,
            learner: Learner::new(learning, records.clone()),
            records,
            saved: Arc::new(SavedValues::new(saved)),
            checks: Arc::default(),
            followed: OnceLock::new(),
        }
    }

    /// The view of a virtual server, which mounts some tools and narrows the policy.
    pub(crate) fn of_virtual_server(
        &self,
        mounts: Option<MountRules>,
        visible: &VisibleServers,
        calls: CallRules,
    ) -> Core {
        let mounted = |rules| {
            let mounts = Mounts::new(rules, visible.clone(), self.hub.clone());
            Arc::new(Snapshot::new(self.lists.mounted(mounts)))
        };
        let rules = mounts.unwrap_or_default();
        let snapshot = match (rules == MountRules::default(), visible) {
            (false, _) => mounted(rules),
            (true, VisibleServers::All) => self.snapshot.clone(),
            (true, _) => self.seen.get_or_make(visible, || mounted(rules)),
        };
        let lists = snapshot.source();
        Core {
            hub: self.hub.clone(),
            seen: self.seen.clone(),
            rules: self.rules.narrowed(calls),
            snapshot,
            local: self.local.clone(),
            lists,
            records: self.records.clone(),
            saved: self.saved.clone(),
            learner: self.learner.clone(),
            checks: self.checks.clone(),
            followed: OnceLock::new(),
        }
    }

    /// Rescans the tool files and logs new problems; returns whether any file was added, changed or removed.
    pub(crate) async fn look(&self) -> bool {
        self.local.look(&self.lists).await
    }

    pub(crate) fn followed_lists(&self) -> watch::Receiver<Arc<Vec<ServerTools>>> {
        self.followed.get_or_init(|| self.lists.followed()).clone()
    }

    pub(crate) fn policy(&self) -> Arc<Policy> {
        self.rules.policy()
    }

    pub(crate) fn follow(&self, servers: &[ServerConfig]) {
        self.rules.follow(servers);
    }

    /// Lists this server's tools if they are unknown.
    pub(crate) async fn list(&self, principal: &Principal, server: &str) -> Result<(), HostCallError> {
        self.hub
            .list_as(principal, server)
            .await
            .map_err(|failed| error::upstream(&failed))
    }

    pub(crate) async fn search(
        &self,
        principal: &Principal,
        query: &str,
        limit: usize,
        form: ToolForm,
    ) -> SearchAnswer {
        let has_changed = self.look().await;
        let before = self.snapshot.lists();
        let mut pending = self.discover(&before).await;
        let has_waited = has_changed || !unread(&listed(&before), &self.snapshot.lists()).is_empty();
        let searched = match has_waited {
            true => self.snapshot.search_of_present_lists().await,
            false => self.snapshot.newest_search().await,
        };
        let (search, lists) = (&searched.search, self.snapshot.lists());
        pending.extend(unread(&read(search.catalog()), &lists));
        // The index may be older than the lists: drop removed tools, and show the current state of changed tools.
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
                .map(|(entry, score)| FoundTool::of(&entry, score, form, learned.of(&entry).as_deref()))
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

    /// Requests unknown lists of the view's servers; no other server starts. Returns the names of the servers that are
    /// still starting.
    pub(crate) async fn start_listing(&self, patience: Duration) -> Vec<String> {
        if self.lists.are_whole() {
            return self.hub.discover(patience).await;
        }
        let mounted = self.snapshot.lists();
        let is_mounted = |name: &str| mounted.iter().any(|server| server.name == name);
        let user = self.lists.user();
        self.hub.discover_among(patience, user, &is_mounted).await
    }

    /// Requests unknown tool lists; returns the names of the servers that are still starting.
    async fn discover(&self, lists: &[ServerTools]) -> Vec<String> {
        if lists.iter().all(|server| server.tools.is_some()) {
            return Vec::new();
        }
        self.start_listing(DISCOVERY).await
    }

    /// A catalog built after every server has listed its tools or has failed.
    pub(crate) async fn discovered(&self) -> Arc<Catalog> {
        self.discover(&self.snapshot.lists()).await;
        self.snapshot.current().await
    }

    /// Refuses a server that the run has not loaded, without starting the server.
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

    /// Refused tools are not proposed. Thousands are judged in one search, so the filter of the lists is not repeated.
    pub(crate) fn may_call(&self, principal: &Principal, entry: &Entry) -> bool {
        self.admit_listed(principal, &entry.tool).is_ok()
    }

    /// All servers. Starts no server.
    pub(crate) async fn servers(&self, reach: &Reach) -> Vec<ServerAnswer> {
        let catalog = self.snapshot.current().await;
        let servers = catalog.servers();
        servers.map(|server| ServerAnswer::of(server, reach)).collect()
    }

    /// One server's tools that `principal` may call; lists them if needed.
    pub(crate) async fn tools(
        &self,
        principal: &Principal,
        server: &str,
        detail: Detail,
        reach: &Reach,
    ) -> Result<ToolsAnswer, HostCallError> {
        let catalog = self.listed(principal, server).await?;
        let server = catalog
            .server(server)
            .map_err(|unknown| error::unknown(&unknown))?;
        // The definitions may have changed since the look-up.
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

    /// One tool that `principal` may call, by two names or as `SERVER.TOOL`; lists the server's
    /// tools if needed.
    pub(crate) async fn describe(
        &self,
        principal: &Principal,
        server: Option<&str>,
        tool: &str,
        language: Language,
    ) -> Result<DescribedTool, HostCallError> {
        let entry = match server {
            Some(server) => self.resolve(principal, server, tool).await?,
            None => self.named(principal, tool).await?,
        };
        let _admission = self
            .admit(principal, &entry.tool)
            .map_err(|denied| error::denied(&denied))?;
        let learned = self.learner.learned(principal).await;
        let learned = learned.of(&entry);
        let page = || entry.declaration(language, learned.as_deref());
        Ok(DescribedTool {
            server: entry.tool.server.clone(),
            tool: ToolAnswer::of(&entry, Detail::Full, learned.as_deref()),
            page: (language == Language::Shell).then(page),
        })
    }

    pub(crate) async fn listed(
        &self,
        principal: &Principal,
        server: &str,
    ) -> Result<Arc<Catalog>, HostCallError> {
        let catalog = self.snapshot.current().await;
        let found = catalog
            .server(server)
            .map_err(|unknown| error::unknown(&unknown))?;
        if found.listed {
            return Ok(catalog);
        }
        self.list(principal, &found.name).await?;
        Ok(self.snapshot.current().await)
    }
}

/// Servers with listed tools outside `known`.
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

fn read(catalog: &Catalog) -> HashSet<&str> {
    let listed = catalog.servers().filter(|server| server.listed);
    listed.map(|server| server.name.as_str()).collect()
}
