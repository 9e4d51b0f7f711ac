//! Waits before a server is tried again: longer each time, and not the same for all who wait.

use std::time::{Duration, Instant};

use crate::trouble::Trouble;

const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);

/// How long the next wait is.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
}

/// Tries again while a server does not answer, for so long.
#[derive(Debug)]
pub(crate) struct Patience {
    start: Instant,
    most: Duration,
    backoff: Backoff,
}

impl Default for Backoff {
    fn default() -> Self {
        Backoff { next: FIRST }
    }
}

// === impl Backoff ===

impl Backoff {
    /// Waits, between half of the next wait and all of it.
    pub(crate) async fn wait(&mut self) {
        let wait = self.next.mul_f64(0.5 + fastrand::f64() / 2.0);
        self.next = (self.next * 2).min(LONGEST);
        tokio::time::sleep(wait).await;
    }
}

// === impl Patience ===

impl Patience {
    pub(crate) fn begin(most: Duration) -> Patience {
        Patience {
            start: Instant::now(),
            most,
            backoff: Backoff::default(),
        }
    }

    /// Waits, and tells that it is worth trying again; `false` at once if it is not.
    pub(crate) async fn bears(&mut self, trouble: &Trouble) -> bool {
        let bears = trouble.is_unreachable() && self.start.elapsed() < self.most;
        if bears {
            self.backoff.wait().await;
        }
        bears
    }
}
