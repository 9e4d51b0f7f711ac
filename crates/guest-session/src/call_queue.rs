//! The order in which host calls leave a guest.

use std::collections::VecDeque;

/// Host calls that wait for their turn, and the number that is under way.
#[derive(Debug, Default)]
pub struct CallQueue {
    /// Bodies of frames.
    pub waiting: VecDeque<Vec<u8>>,
    /// Calls under way.
    pub flying: u32,
    /// Most calls under way at once.
    pub most: u32,
}

impl CallQueue {
    /// Takes the next call that may leave.
    pub fn take(&mut self) -> Option<Vec<u8>> {
        if self.flying >= self.most.max(1) {
            return None;
        }
        let call = self.waiting.pop_front()?;
        self.flying += 1;
        Some(call)
    }

    /// Whether an answer is to come.
    pub fn is_idle(&self) -> bool {
        self.flying == 0 && self.waiting.is_empty()
    }
}
