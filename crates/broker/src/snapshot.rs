//! The catalog of what the hub lists now: built when it is asked for and the lists have changed since.

use std::sync::{Arc, PoisonError, RwLock};

use catalog::Catalog;
use tokio::sync::{Mutex, watch};
use types::ServerTools;

type Lists = watch::Receiver<Arc<Vec<ServerTools>>>;

/// The current catalog. Building happens on a thread for blocking work, once for all who wait for it.
#[derive(Debug)]
pub(crate) struct Snapshot {
    state: RwLock<State>,
    building: Mutex<()>,
}

#[derive(Debug)]
struct State {
    /// Has seen exactly the lists that `catalog` was built from.
    seen: Lists,
    catalog: Arc<Catalog>,
}

// === impl Snapshot ===

impl Snapshot {
    pub(crate) fn new(mut lists: Lists) -> Self {
        lists.mark_changed();
        Self {
            state: RwLock::new(State {
                seen: lists,
                catalog: Arc::default(),
            }),
            building: Mutex::new(()),
        }
    }

    /// The catalog of the newest lists.
    pub(crate) async fn current(&self) -> Arc<Catalog> {
        if let Some(catalog) = self.unchanged() {
            return catalog;
        }
        let _building = self.building.lock().await;
        // Who waited here finds what the other one built.
        if let Some(catalog) = self.unchanged() {
            return catalog;
        }
        let (mut seen, known) = {
            let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
            (state.seen.clone(), state.catalog.clone())
        };
        let lists = seen.borrow_and_update().clone();
        let before = known.clone();
        let built = tokio::task::spawn_blocking(move || Arc::new(before.update(&lists))).await;
        let catalog = built.unwrap_or_else(|error| {
            tracing::error!(%error, "the catalog could not be built; the one before stays in use");
            known
        });
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        *state = State {
            seen,
            catalog: catalog.clone(),
        };
        catalog
    }

    fn unchanged(&self) -> Option<Arc<Catalog>> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        // An error means that the hub is gone: its last lists stay.
        let changed = state.seen.has_changed().unwrap_or(false);
        (!changed).then(|| state.catalog.clone())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;
    use types::Tool;

    use super::*;

    fn lists(tools: &[&str]) -> Arc<Vec<ServerTools>> {
        let tool = |name: &&str| {
            let definition = to_raw_value(&json!({"name": name, "inputSchema": {}})).expect("JSON");
            Arc::new(Tool::parse(definition).expect("a definition"))
        };
        Arc::new(vec![ServerTools {
            name: "stub".to_owned(),
            description: None,
            cwd: None,
            tools: Some(tools.iter().map(tool).collect()),
        }])
    }

    #[tokio::test]
    async fn the_catalog_follows_the_lists() {
        let (sender, receiver) = watch::channel(lists(&["a"]));
        let snapshot = Snapshot::new(receiver);
        let first = snapshot.current().await;
        assert!(first.resolve("stub", "a").is_ok());
        assert!(Arc::ptr_eq(&first, &snapshot.current().await));

        sender.send(lists(&["b"])).expect("a receiver");
        let second = snapshot.current().await;
        assert!(second.resolve("stub", "b").is_ok() && second.resolve("stub", "a").is_err());

        drop(sender);
        assert!(Arc::ptr_eq(&second, &snapshot.current().await));
    }

    #[tokio::test]
    async fn all_who_wait_share_one_catalog() {
        let (_sender, receiver) = watch::channel(lists(&["a"]));
        let snapshot = Snapshot::new(receiver);
        let (a, b, c) = tokio::join!(snapshot.current(), snapshot.current(), snapshot.current());
        assert!(Arc::ptr_eq(&a, &b) && Arc::ptr_eq(&b, &c));
    }
}
