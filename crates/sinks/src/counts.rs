//! Counters of a sink, for `/metrics`.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// Counters of one sink in this process.
#[derive(Debug, Default)]
pub struct SinkCounts {
    sent: AtomicU64,
    refused: AtomicU64,
    removed: AtomicU64,
    failures: AtomicU64,
    waiting: AtomicI64,
}

/// The counters' values at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SinkFigures {
    /// Records sent.
    pub sent: u64,
    /// Records that the collector refused and the sink skipped.
    pub refused: u64,
    /// Records that retention removed before they were sent.
    pub removed: u64,
    /// Attempts that failed.
    pub failures: u64,
    /// Unsent records in the database; 0 while another process sends.
    pub waiting: i64,
}

// === impl SinkCounts ===

impl SinkCounts {
    /// The current values.
    pub fn figures(&self) -> SinkFigures {
        SinkFigures {
            sent: self.sent.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
            removed: self.removed.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
            waiting: self.waiting.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn add_sent(&self, records: u64) {
        self.sent.fetch_add(records, Ordering::Relaxed);
    }

    pub(crate) fn add_refused(&self, records: u64) {
        self.refused.fetch_add(records, Ordering::Relaxed);
    }

    pub(crate) fn add_removed(&self, records: u64) {
        self.removed.fetch_add(records, Ordering::Relaxed);
    }

    pub(crate) fn add_failure(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn set_waiting(&self, records: i64) {
        self.waiting.store(records, Ordering::Relaxed);
    }
}
