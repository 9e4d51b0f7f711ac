//! How much a conversation does before the other tasks of its thread go on.

use tokio::task::yield_now;

/// Frames and answers of one turn. Each takes up to 20 µs, so another session waits about 0.2 ms.
pub const STEPS: u32 = 8;

/// Counts what was done since the last turn ended.
#[derive(Debug, Default)]
pub struct Turn {
    steps: u32,
}

impl Turn {
    /// Ends the turn where enough was done in it. A session that never stops calling tools would otherwise hold up
    /// every other session for a whole batch of calls.
    pub async fn step(&mut self) {
        self.steps += 1;
        if self.steps >= STEPS {
            self.steps = 0;
            yield_now().await;
        }
    }
}
