//! The limit on a session's processes and threads, for modes in which the host counts them.
//!
//! After a run, the host stops the guest and kills the processes that the run left behind. The guest reaps these zombies
//! at the start of its next run. Until then the limit allows them in addition, but only for a limited time and number,
//! because zombies occupy process ids.

use std::time::{Duration, Instant};

/// Time in which a resumed guest must reap the zombies.
const REAPING: Duration = Duration::from_secs(5);
/// Maximum zombies that are allowed in addition. Without it, a guest that never reaps could gain more with each short
/// run.
const MOST_ZOMBIES: u64 = 1024;

/// The largest number of tasks of one session.
#[derive(Debug)]
pub struct TaskLimit {
    most: u64,
    /// The zombies at the beginning of the current run, and the end of the time in which they are allowed.
    zombies: Option<(u64, Instant)>,
}

impl TaskLimit {
    pub fn new(most: u64) -> Self {
        Self { most, zombies: None }
    }

    /// A run begins at `now` with this many zombies.
    pub fn begin_run(&mut self, zombies: u64, now: Instant) {
        self.zombies = (zombies > 0).then_some((zombies.min(MOST_ZOMBIES), now + REAPING));
    }

    pub fn is_exceeded(&self, tasks: u64, now: Instant) -> bool {
        let allowed = self.zombies.filter(|(_, end)| now < *end);
        tasks
            > self
                .most
                .saturating_add(allowed.map_or(0, |(zombies, _)| zombies))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zombies_of_the_last_run_are_allowed_until_the_guest_must_have_reaped_them() {
        let start = Instant::now();
        let mut limit = TaskLimit::new(4);
        assert!(!limit.is_exceeded(4, start) && limit.is_exceeded(5, start));
        limit.begin_run(3, start);
        assert!(!limit.is_exceeded(7, start) && limit.is_exceeded(8, start));
        limit.begin_run(100_000, start);
        assert!(!limit.is_exceeded(1028, start) && limit.is_exceeded(1029, start));
        let late = start + REAPING;
        assert!(!limit.is_exceeded(4, late) && limit.is_exceeded(5, late));
        limit.begin_run(0, late);
        assert!(limit.is_exceeded(5, late));
    }
}
