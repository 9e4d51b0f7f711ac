//! Counts one server's calls and keeps its last error, for display.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::error::UpstreamError;

/// Statistics of one definition, across all its processes.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    calls: AtomicU64,
    last_error: Mutex<Option<String>>,
}

impl Stats {
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
