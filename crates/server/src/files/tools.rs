//! The files that describe a principal's tools, published as a new tree whenever the tools change.

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

/// Longest wait for servers that never listed their tools, for a program that names the files.
const DISCOVERY: Duration = Duration::from_secs(5);

/// Servers list their tools in bursts; one tree covers a burst.
const SETTLE: Duration = Duration::from_millis(300);

/// Path of the files in programs.
const DIRECTORY: &str = "/tools";

/// Keeps the published trees in step with the catalog.
pub(crate) struct ToolFiles {
    hub: Hub,
    broker: Broker,
    /// Inputs of each principal's current tree.
    published: Mutex<HashMap<Principal, Published>>,
}

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

    pub(super) async fn forget(&self, principal: &Principal, workspaces: &Workspaces) {
        self.published.lock().await.remove(principal);
        workspaces.forget(principal);
    }

    /// Rescans the tool files.
    pub(super) async fn look(&self) {
        self.broker.look().await;
    }

    /// If the program names the files, prepares those of all servers: the program may read any of them.
    pub(super) async fn prepare(&self, principal: &Principal, code: &str, workspaces: &Workspaces) {
        if code.contains(DIRECTORY) {
            self.broker.discover(DISCOVERY).await;
            self.publish(principal, workspaces).await;
        } else if !self.has_files(principal, &self.broker.files_found()).await {
            self.publish(principal, workspaces).await;
        }
    }

    /// Whether the current tree has these tool files; always true for an empty set.
    async fn has_files(&self, principal: &Principal, files: &Arc<ScannedTools>) -> bool {
        match self.published.lock().await.get(principal) {
            Some(published) => Arc::ptr_eq(&published.files, files),
            None => files.servers.is_empty(),
        }
    }

    /// Publishes a tree of the current tools. If this fails, the previous tree remains.
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
        let (place, tools) = (workspaces.clone(), catalog.clone());
        let published_now = blocking(move || {
            let done = place.publish(&whose, &broker.files(&whose, &tools, &learned));
            // The lists, the index and the files are built; their temporary memory is a third of the total.
            jail::memory::give_back();
            done
        });
        match published_now.await {
            Some(Ok(())) => {
                published.insert(principal.clone(), Published { catalog, files });
                tend(principal, workspaces);
            }
            Some(Err(error)) => tracing::warn!(%error, "the files below /tools are not up to date"),
            None => {}
        }
    }
}

/// Prepares the next publication and removes old trees, in the background.
fn tend(principal: &Principal, workspaces: &Workspaces) {
    let (workspaces, whose) = (workspaces.clone(), principal.clone());
    tokio::task::spawn_blocking(move || {
        if let Err(error) = workspaces.tend_trees(&whose) {
            tracing::debug!(%error, "the next change of /tools takes longer");
        }
    });
}
