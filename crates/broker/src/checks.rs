//! Compiled argument checks: one cache for all tools, bounded by nodes.
//!
//! The least recently used check is dropped first.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use catalog::{ArgumentValidator, Entry};
use types::Tool;

/// Limit on the nodes of all cached checks, about 2 KB each. Real schemas have about 20 nodes, the largest 2,000.
const MAX_NODES: usize = 25_000;

#[derive(Debug, Default)]
pub(crate) struct Checks {
    kept: Mutex<Kept>,
    /// Held while a schema is compiled: compiling takes more memory than its result, so only one runs at a time.
    compiling: Mutex<()>,
}

#[derive(Debug, Default)]
struct Kept {
    /// Checks by the address of the definition; the weak reference keeps the address from being reused.
    checks: HashMap<usize, KeptCheck>,
    nodes: usize,
    uses: u64,
}

#[derive(Debug)]
struct KeptCheck {
    _definition: Weak<Tool>,
    check: Arc<ArgumentValidator>,
    last_use: u64,
}

// === impl Checks ===

impl Checks {
    /// A cached check; takes microseconds.
    pub(crate) fn ready(&self, entry: &Entry) -> Option<Arc<ArgumentValidator>> {
        self.kept().find(address(entry))
    }

    /// A tool's check. Compiling may take a second, so call on a blocking thread.
    pub(crate) fn of(&self, entry: &Entry) -> Arc<ArgumentValidator> {
        if let Some(check) = self.ready(entry) {
            return check;
        }
        let _alone = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have compiled it meanwhile.
        self.ready(entry).unwrap_or_else(|| {
            let check = Arc::new(entry.check());
            self.kept().keep(entry, check.clone());
            check
        })
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Kept ===

impl Kept {
    fn find(&mut self, address: usize) -> Option<Arc<ArgumentValidator>> {
        let found = self.checks.get_mut(&address)?;
        self.uses += 1;
        found.last_use = self.uses;
        Some(found.check.clone())
    }

    fn keep(&mut self, entry: &Entry, check: Arc<ArgumentValidator>) {
        self.nodes += check.size();
        self.uses += 1;
        let kept = KeptCheck {
            _definition: Arc::downgrade(&entry.definition),
            check,
            last_use: self.uses,
        };
        let replaced = self.checks.insert(address(entry), kept);
        self.nodes -= replaced.map_or(0, |replaced| replaced.check.size());
        while self.nodes > MAX_NODES && self.drop_oldest() {}
    }

    fn drop_oldest(&mut self) -> bool {
        let oldest = self.checks.iter().min_by_key(|(_, kept)| kept.last_use);
        let oldest = oldest.map(|(address, _)| *address);
        let dropped = oldest.and_then(|address| self.checks.remove(&address));
        self.nodes -= dropped.as_ref().map_or(0, |dropped| dropped.check.size());
        dropped.is_some()
    }
}

fn address(entry: &Entry) -> usize {
    Arc::as_ptr(&entry.definition).addr()
}

#[cfg(test)]
mod tests;
