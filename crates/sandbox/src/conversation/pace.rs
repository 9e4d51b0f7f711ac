//! Finds runs that compute for so long that runs of other sessions go first.

use std::time::Duration;

use tokio::time::Instant;

/// Consecutive busy checks before a run yields.
const BUSY_CHECKS: u32 = 2;
/// Share of a core since the last check that makes a check busy.
const BUSY_CORES: f64 = 0.5;

/// The processor time of a run, from check to check.
pub struct Pace {
    checked: Instant,
    cpu: Duration,
    busy: u32,
}

impl Pace {
    /// `cpu` is the guest's CPU time at the run's start.
    pub fn new(now: Instant, cpu: Duration) -> Self {
        Self {
            checked: now,
            cpu,
            busy: 0,
        }
    }

    /// Updates the guest's CPU time; `true` at the check at which the run begins to yield.
    pub fn begins_to_yield(&mut self, now: Instant, cpu: Duration) -> bool {
        let used = cpu.saturating_sub(self.cpu).as_secs_f64();
        let is_busy = used >= BUSY_CORES * (now - self.checked).as_secs_f64();
        (self.checked, self.cpu) = (now, cpu);
        if self.yields() {
            return false;
        }
        self.busy = if is_busy { self.busy + 1 } else { 0 };
        self.yields()
    }

    pub fn yields(&self) -> bool {
        self.busy >= BUSY_CHECKS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks every 50 ms; each number is the CPU time in milliseconds used before the check.
    fn check(used: &[u64], yields_at: Option<usize>) {
        let start = Instant::now();
        let mut pace = Pace::new(start, Duration::ZERO);
        let mut cpu = Duration::ZERO;
        let mut began = None;
        for (number, used) in (1..).zip(used) {
            cpu += Duration::from_millis(*used);
            if pace.begins_to_yield(start + Duration::from_millis(50) * number, cpu) {
                assert_eq!(began, None, "begins once");
                began = Some(number as usize);
            }
        }
        assert_eq!(began, yields_at, "{used:?}");
    }

    #[test]
    fn a_run_that_keeps_computing_yields() {
        check(&[50, 50, 50], Some(2));
        check(&[100, 90, 0], Some(2));
        check(&[50, 0, 50, 0, 50], None);
        check(&[50, 0, 30, 30], Some(4));
        check(&[10, 10, 10, 10], None);
    }
}
