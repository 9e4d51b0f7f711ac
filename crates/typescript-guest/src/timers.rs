//! Timers of the platform: the due ones, and the next deadline.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::{Duration, Instant};

/// Timers by their ids, which the platform chooses.
#[derive(Debug, Default)]
pub struct Timers {
    due: BinaryHeap<Reverse<(Instant, u64, u64)>>,
    /// The current setting's number for each id.
    active: HashMap<u64, u64>,
    settings: u64,
}

impl Timers {
    /// Sets or moves a timer.
    pub fn set(&mut self, id: u64, after: Duration) {
        self.settings += 1;
        self.active.insert(id, self.settings);
        self.due
            .push(Reverse((Instant::now() + after, self.settings, id)));
    }

    /// Removes a timer.
    pub fn clear(&mut self, id: u64) {
        self.active.remove(&id);
    }

    /// Removes all timers.
    pub fn clear_all(&mut self) {
        self.active.clear();
        self.due.clear();
    }

    /// Time until the next timer; `None` without one.
    pub fn next(&mut self) -> Option<Duration> {
        self.drop_cleared();
        let Reverse((at, ..)) = self.due.peek()?;
        Some(at.saturating_duration_since(Instant::now()))
    }

    /// Takes a due timer, the oldest first.
    pub fn take_due(&mut self) -> Option<u64> {
        self.drop_cleared();
        let Reverse((at, ..)) = self.due.peek()?;
        if *at > Instant::now() {
            return None;
        }
        let Reverse((_, _, id)) = self.due.pop()?;
        self.active.remove(&id);
        Some(id)
    }

    fn drop_cleared(&mut self) {
        while let Some(Reverse((_, setting, id))) = self.due.peek()
            && self.active.get(id) != Some(setting)
        {
            self.due.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_come_in_the_order_of_their_time() {
        let mut timers = Timers::default();
        assert_eq!(timers.next(), None);
        timers.set(1, Duration::from_secs(60));
        timers.set(2, Duration::ZERO);
        timers.set(3, Duration::ZERO);
        timers.set(4, Duration::ZERO);
        timers.clear(3);
        timers.set(1, Duration::ZERO);
        let due: Vec<u64> = std::iter::from_fn(|| timers.take_due()).collect();
        assert_eq!(due, [2, 4, 1]);
        assert_eq!(timers.next(), None);
    }
}
