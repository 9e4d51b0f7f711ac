//! The catalog of the current lists, and its search index; a background task rebuilds the index.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use catalog::{Catalog, Search};
use tokio::sync::{Mutex, watch};
use types::ServerTools;

use crate::local::Lists;

/// Lists that change within this time are read together.
const SETTLING: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(crate) struct Snapshot {
    current: Arc<Current>,
    /// Built by the first search; a process without searches builds no index.
    searched: OnceLock<watch::Receiver<Arc<Searched>>>,
}

/// The current catalog. Built on a blocking thread, once for all waiting callers.
#[derive(Debug)]
struct Current {
    state: RwLock<BuiltCatalog>,
    building: Mutex<()>,
}

#[derive(Debug)]
struct BuiltCatalog {
    /// The lists that `catalog` was built from, marked as seen.
    seen: Lists,
    numbered: Numbered,
}

/// A catalog with an ascending number.
#[derive(Debug, Clone, Default)]
struct Numbered {
    number: u64,
    catalog: Arc<Catalog>,
}

/// The search index with its catalog's number.
#[derive(Debug, Default)]
pub(crate) struct Searched {
    number: u64,
    pub(crate) search: Arc<Search>,
}

// === impl Snapshot ===

impl Snapshot {
    pub(crate) fn new(mut lists: Lists) -> Self {
        lists.mark_changed();
        Self {
            current: Arc::new(Current {
                state: RwLock::new(BuiltCatalog {
                    seen: lists,
                    numbered: Numbered::default(),
                }),
                building: Mutex::new(()),
            }),
            searched: OnceLock::new(),
        }
    }

    /// The lists that change.
    pub(crate) fn source(&self) -> Lists {
        self.current.lists()
    }

    pub(crate) fn lists(&self) -> Arc<Vec<ServerTools>> {
        self.current.lists().now()
    }

    /// The catalog of the newest lists.
    pub(crate) async fn current(&self) -> Arc<Catalog> {
        self.current.get().await.catalog
    }

    /// The newest finished index; waits only for the first index.
    pub(crate) async fn newest_search(&self) -> Arc<Searched> {
        self.searched_since(1).await
    }

    /// The index of the current lists, for callers that have waited for lists or a scan.
    pub(crate) async fn search_of_present_lists(&self) -> Arc<Searched> {
        self.searched_since(self.current.get().await.number).await
    }

    async fn searched_since(&self, number: u64) -> Arc<Searched> {
        let mut searched = self.searched.get_or_init(|| keep(self.current.clone())).clone();
        let found = searched.wait_for(|searched| searched.number >= number).await;
        let found = found.map(|found| found.clone());
        // The building task ends only with the hub; after that, the last index is used.
        found.unwrap_or_else(|_| searched.borrow().clone())
    }
}

/// Starts the task that builds the index, at once and after every change. The task ends with the hub or with the last
/// reader.
fn keep(current: Arc<Current>) -> watch::Receiver<Arc<Searched>> {
    let (finished, searched) = watch::channel(Arc::<Searched>::default());
    let mut lists = current.lists();
    tokio::spawn(async move {
        loop {
            lists.mark_unchanged();
            let numbered = current.get().await;
            let before = finished.borrow().clone();
            if numbered.number > before.number {
                let number = numbered.number;
                let known = before.search.clone();
                let next = tokio::task::spawn_blocking(move || Arc::new(known.update(numbered.catalog)));
                let search = next.await.unwrap_or_else(|error| {
                    tracing::error!(%error, "the search index could not be built; searches use the previous one");
                    before.search.clone()
                });
                finished.send_replace(Arc::new(Searched { number, search }));
            }
            tokio::select! {
                changed = lists.changed() => if changed.is_err() { return },
                () = finished.closed() => return,
            }
            tokio::time::sleep(SETTLING).await;
        }
    });
    searched
}

// === impl Current ===

impl Current {
    fn lists(&self) -> Lists {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state.seen.clone()
    }

    async fn get(&self) -> Numbered {
        if let Some(numbered) = self.unchanged() {
            return numbered;
        }
        let _building = self.building.lock().await;
        // Another task may have built the catalog while this caller waited.
        if let Some(numbered) = self.unchanged() {
            return numbered;
        }
        let (mut seen, known) = {
            let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
            (state.seen.clone(), state.numbered.clone())
        };
        let lists = seen.take();
        let before = known.catalog.clone();
        let built = tokio::task::spawn_blocking(move || Arc::new(before.update(&lists))).await;
        let catalog = built.unwrap_or_else(|error| {
            tracing::error!(%error, "the catalog could not be built; the previous one stays in use");
            known.catalog
        });
        let numbered = Numbered {
            number: known.number + 1,
            catalog,
        };
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        *state = BuiltCatalog {
            seen,
            numbered: numbered.clone(),
        };
        numbered
    }

    fn unchanged(&self) -> Option<Numbered> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        (!state.seen.has_changed()).then(|| state.numbered.clone())
    }
}

#[cfg(test)]
mod tests;
