//! The files that describe the tools of a principal: written as a tree of their own whenever the tools change.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use broker::Broker;
use catalog::Catalog;
use tokio::sync::Mutex;
use tool_files::ScannedTools;
use types::Principal;
use upstream::Hub;
use workspace::Workspaces;

use super::blocking;

/// How long a program that looks at the files waits for servers that were never asked for their tools.
const DISCOVERY: Duration = Duration::from_secs(5);

/// Servers list their tools in swarms; one tree does for all of them.
const SETTLE: Duration = Duration::from_millis(300);

/// How a program names the files.
const DIRECTORY: &str = "/tools";

/// Keeps the published trees in step with the catalog.
pub(crate) struct ToolFiles {
    hub: Hub,
    broker: Broker,
    /// What the current tree of each principal was made from.
    published: Mutex<HashMap<Principal, Published>>,
}

/// What a tree was made from.
struct Published {
    catalog: Arc<Catalog>,
    files: Arc<ScannedTools>,
}

impl ToolFiles {
    /// Starts nothing.
    pub(crate) fn new(hub: Hub, broker: Broker) -> ToolFiles {
        ToolFiles {
            hub,
            broker,
            published: Mutex::default(),
        }
    }

    /// Publishes whenever the tools change, until the hub is gone.
    pub(super) async fn follow(&self, principal: &Principal, workspaces: &Workspaces) {
        let mut lists = self.hub.tools();
        loop {
            self.publish(principal, workspaces).await;
            if lists.changed().await.is_err() {
                return std::future::pending().await;
            }
            tokio::time::sleep(SETTLE).await;
            lists.mark_unchanged();
        }
    }

    /// Lets go of the tree of a principal.
    pub(super) async fn forget(&self, principal: &Principal, workspaces: &Workspaces) {
        self.published.lock().await.remove(principal);
        workspaces.forget(principal);
    }

    /// Looks at the tool files.
    pub(super) async fn look(&self) {
        self.broker.look().await;
    }

    /// Has the files ready for a program that names them: those of all servers, for it may look at any.
    pub(super) async fn prepare(&self, principal: &Principal, code: &str, workspaces: &Workspaces) {
        if code.contains(DIRECTORY) {
            self.hub.discover(DISCOVERY).await;
            self.publish(principal, workspaces).await;
        } else if !self.has_files(principal, &self.broker.files_found()).await {
            self.publish(principal, workspaces).await;
        }
    }

    /// Whether the current tree has these tool files; none is what every tree has.
    async fn has_files(&self, principal: &Principal, files: &Arc<ScannedTools>) -> bool {
        match self.published.lock().await.get(principal) {
            Some(published) => Arc::ptr_eq(&published.files, files),
            None => files.servers.is_empty(),
        }
    }

    /// Makes the tree of the tools as they are now the current one. A failure leaves the one before.
    async fn publish(&self, principal: &Principal, workspaces: &Workspaces) {
        let mut published = self.published.lock().await;
        let files = self.broker.files_found();
        let catalog = self.broker.catalog().await;
        if published
            .get(principal)
            .is_some_and(|before| Arc::ptr_eq(&before.catalog, &catalog))
        {
            return;
        }
        let (broker, whose) = (self.broker.clone(), principal.clone());
        let learned = broker.learned(principal).await;
        let (workspaces, tools) = (workspaces.clone(), catalog.clone());
        let published_now = blocking(move || {
            let done = workspaces.publish(&whose, &broker.files(&whose, &tools, &learned));
            // Lists, index and files were all built by now, and what they needed meanwhile is a third of all memory.
            jail::memory::give_back();
            done
        });
        match published_now.await {
            Some(Ok(())) => {
                published.insert(principal.clone(), Published { catalog, files });
            }
            Some(Err(error)) => tracing::warn!(%error, "the files below /tools are not up to date"),
            None => {}
        }
    }
}
