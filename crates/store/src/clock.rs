//! The wall clock, which may be set back, combined with a monotonic clock.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A step back of at most this many milliseconds is an adjustment; a larger step means that the clock is wrong.
const TOLERANCE_MS: i64 = 5_000;

#[derive(Debug, Default)]
pub(crate) struct Clock {
    latest_ms: AtomicI64,
}

// === impl Clock ===

impl Clock {
    /// Now, in milliseconds since 1970. If now is behind the latest time seen by more than the tolerance, also returns
    /// the difference.
    pub(crate) fn now(&self) -> (i64, Option<Duration>) {
        let now = now_ms();
        (now, self.behind(now))
    }

    fn behind(&self, now_ms: i64) -> Option<Duration> {
        let latest = self.latest_ms.fetch_max(now_ms, Ordering::Relaxed);
        let behind = latest - now_ms;
        (behind > TOLERANCE_MS).then(|| Duration::from_millis(behind.unsigned_abs()))
    }

    /// Raises the latest time seen to the time of another process's newest record.
    pub(crate) fn saw(&self, ms: i64) {
        self.latest_ms.fetch_max(ms, Ordering::Relaxed);
    }
}

/// Milliseconds since 1970, negative before.
pub(crate) fn now_ms() -> i64 {
    let whole = |duration: Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => whole(since),
        Err(before) => -whole(before.duration()),
    }
}

pub(crate) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_large_steps_back_are_told() {
        let clock = Clock::default();
        let check = |now, behind: Option<u64>| {
            assert_eq!(clock.behind(now), behind.map(Duration::from_millis), "{now}");
        };
        check(1_000_000, None);
        check(996_000, None);
        check(994_999, Some(5_001));
        check(995_000, None);
        clock.saw(2_000_000);
        check(1_000_001, Some(999_999));
        check(2_000_001, None);
    }
}
