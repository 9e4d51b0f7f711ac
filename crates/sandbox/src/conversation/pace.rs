//! Finds runs that use so much CPU time, of the guest or of the host, that other sessions' runs must go first.

use std::time::Duration;

use tokio::time::Instant;

/// Consecutive busy checks before a run yields.
const BUSY_CHECKS: u32 = 2;
/// Share of a core since the last check. From this share on, a check is busy.
const BUSY_CORES: f64 = 0.5;
/// Host calls per second since the last check. From this rate on, a check is busy. Each call takes about 0.1 ms of the
/// host and of a server.
const BUSY_CALLS: f64 = 2_000.0;

/// The processor time of a run, from check to check.
pub struct Pace {
    checked: Instant,
    cpu: Duration,
    calls: u32,
    busy: u32,
}

impl Pace {
    /// `cpu` is the guest's CPU time at the run's start.
    pub fn new(now: Instant, cpu: Duration) -> Self {
        Self {
            checked: now,
            cpu,
            calls: 0,
            busy: 0,
        }
    }

    /// Updates the guest's CPU time and the calls of the run. Returns `true` only at the check at which the run begins
    /// to yield.
    pub fn begins_to_yield(&mut self, now: Instant, cpu: Duration, calls: u32) -> bool {
        let seconds = (now - self.checked).as_secs_f64();
        let used = cpu.saturating_sub(self.cpu).as_secs_f64();
        let called = f64::from(calls.saturating_sub(self.calls));
        let is_busy = used >= BUSY_CORES * seconds || called >= BUSY_CALLS * seconds;
        (self.checked, self.cpu, self.calls) = (now, cpu, calls);
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
        check_with(used, &[], yields_at);
    }

    /// The same with the calls made before each check.
    fn check_with(used: &[u64], called: &[u32], yields_at: Option<usize>) {
        let start = Instant::now();
        let mut pace = Pace::new(start, Duration::ZERO);
        let (mut cpu, mut calls) = (Duration::ZERO, 0);
        let mut began = None;
        let called = called.iter().copied().chain(std::iter::repeat(0));
        for ((number, used), called) in (1..).zip(used).zip(called) {
            cpu += Duration::from_millis(*used);
            calls += called;
            if pace.begins_to_yield(start + Duration::from_millis(50) * number, cpu, calls) {
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

    #[test]
    fn a_run_that_keeps_calling_yields() {
        check_with(&[5, 5, 5], &[100, 100], Some(2));
        check_with(&[5, 5, 5], &[100, 50, 100], None);
        check_with(&[30, 5], &[0, 200], Some(2));
    }
}
