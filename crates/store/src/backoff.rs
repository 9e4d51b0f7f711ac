//! Growing, jittered waits between attempts to reach a server.

use std::time::{Duration, Instant};

use crate::trouble::Trouble;

const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
}

/// Retries for a limited time while a server does not answer.
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
    /// Waits a random time between half of the next delay and the whole delay.
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

    /// Waits and returns `true` if another attempt may help; otherwise returns `false` at once.
    pub(crate) async fn bears(&mut self, trouble: &Trouble) -> bool {
        let bears = trouble.is_unreachable() && self.start.elapsed() < self.most;
        if bears {
            self.backoff.wait().await;
        }
        bears
    }
}
