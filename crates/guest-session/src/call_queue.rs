//! Queues host calls, with a limit on concurrent calls.

use std::collections::VecDeque;

/// Waiting host calls, and the number in flight.
#[derive(Debug, Default)]
pub struct CallQueue {
    /// Bodies of frames.
    pub waiting: VecDeque<Vec<u8>>,
    /// Calls in flight.
    pub flying: u32,
    /// Maximum number of calls in flight.
    pub most: u32,
}

impl CallQueue {
    /// Takes the next call that may be sent.
    pub fn take(&mut self) -> Option<Vec<u8>> {
        if self.flying >= self.most.max(1) {
            return None;
        }
        let call = self.waiting.pop_front()?;
        self.flying += 1;
        Some(call)
    }

    /// Whether no answer is pending.
    pub fn is_idle(&self) -> bool {
        self.flying == 0 && self.waiting.is_empty()
    }
}
