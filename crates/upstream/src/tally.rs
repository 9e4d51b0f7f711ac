//! What is counted of one server for people: its calls, and what went wrong last.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::UpstreamError;

/// Counts from the first start of the definition to its end, over all lives of its process.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    calls: AtomicU64,
    last_error: Mutex<Option<String>>,
}

impl Tally {
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    pub(crate) fn last_error(&self) -> Option<String> {
        self.last_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Makes a call that counts.
    pub(crate) async fn counted<T>(
        &self,
        call: impl Future<Output = Result<T, UpstreamError>>,
    ) -> Result<T, UpstreamError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let answer = call.await;
        if let Err(error) = &answer {
            self.failed(error);
        }
        answer
    }

    /// Remembers what went wrong.
    pub(crate) fn failed(&self, error: &UpstreamError) {
        let mut last = self.last_error.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(error.to_string());
    }
}
