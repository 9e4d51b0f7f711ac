//! Counts one server's calls and keeps its last error, for display.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;

use crate::error::UpstreamError;

/// Statistics of one definition, across all its processes.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    calls: AtomicU64,
    last_error: Mutex<Option<String>>,
    /// Milliseconds since 1970; 0 for never.
    checked_ms: AtomicI64,
}

impl Stats {
    /// When the server last answered or failed to; milliseconds since 1970.
    pub(crate) fn checked_ms(&self) -> Option<i64> {
        Some(self.checked_ms.load(Ordering::Relaxed)).filter(|ms| *ms > 0)
    }

    pub(crate) fn note_check(&self) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
        self.checked_ms.store(now, Ordering::Relaxed);
    }

    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    pub(crate) fn last_error(&self) -> Option<String> {
        self.last_error.lock().clone()
    }

    pub(crate) async fn count_call<T>(
        &self,
        call: impl Future<Output = Result<T, UpstreamError>>,
    ) -> Result<T, UpstreamError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let answer = call.await;
        self.note_check();
        if let Err(error) = &answer {
            self.record_error(error);
        }
        answer
    }

    pub(crate) fn record_error(&self, error: &UpstreamError) {
        let mut last = self.last_error.lock();
        *last = Some(error.to_string());
    }
}
