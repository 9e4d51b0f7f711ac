//! Limits the work of a conversation before other tasks of its thread run.

use tokio::task::yield_now;

/// Most frames and answers per turn. Each takes up to 20 µs, so another session waits about 0.2 ms.
pub const STEPS: u32 = 8;

/// Counts the work since the last turn ended.
#[derive(Debug, Default)]
pub struct Turn {
    steps: u32,
}

impl Turn {
    /// Ends the turn after `STEPS` steps. Otherwise a session that calls tools without pause would delay every other
    /// session for a whole batch of calls.
    pub async fn step(&mut self) {
        self.steps += 1;
        if self.steps >= STEPS {
            self.steps = 0;
            yield_now().await;
        }
    }
}
