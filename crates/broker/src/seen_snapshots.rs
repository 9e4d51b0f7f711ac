//! Shares one snapshot among all views without mount rules that show the same servers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::snapshot::Snapshot;
use crate::visible_servers::VisibleServers;

/// Snapshots by the shown servers, while in use.
#[derive(Debug, Default)]
pub(crate) struct SeenSnapshots(Mutex<HashMap<VisibleServers, Weak<Snapshot>>>);

// === impl SeenSnapshots ===

impl SeenSnapshots {
    pub(crate) fn get_or_make(
        &self,
        visible: &VisibleServers,
        make: impl FnOnce() -> Arc<Snapshot>,
    ) -> Arc<Snapshot> {
        let mut snapshots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(snapshot) = snapshots.get(visible).and_then(Weak::upgrade) {
            return snapshot;
        }
        snapshots.retain(|_, snapshot| snapshot.strong_count() > 0);
        let snapshot = make();
        snapshots.insert(visible.clone(), Arc::downgrade(&snapshot));
        snapshot
    }
}
