//! Pauses requests at a server's request, for all connections with one credential.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// Maximum pause that a server can impose. After it, one request tests the server again.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// Clones share one pause.
#[derive(Debug, Clone, Default)]
pub struct Pause {
    until: Arc<Mutex<Option<Instant>>>,
}

// === impl Pause ===

impl Pause {
    /// Begins a pause, or extends the current one.
    pub fn begin(&self, time: Duration) {
        let until = Instant::now() + time.min(LONGEST);
        let mut current = self.until.lock();
        *current = (*current).max(Some(until));
    }

    /// Remaining time of the pause; `None` without a pause.
    pub fn left(&self) -> Option<Duration> {
        let until = (*self.until.lock())?;
        Some(until.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_longest_pause_counts_and_ends() {
        let pause = Pause::default();
        assert_eq!(pause.left(), None);
        for (begun, left) in [(5, 5), (3, 5), (7, 7), (u64::MAX, 3600)] {
            pause.begin(Duration::from_secs(begun));
            assert_eq!(pause.left(), Some(Duration::from_secs(left)));
        }
        tokio::time::advance(LONGEST).await;
        assert_eq!(pause.clone().left(), None);
    }
}
