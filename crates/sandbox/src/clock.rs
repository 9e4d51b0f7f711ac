//! The wall clock of a run, which stops while a call of the run waits for a person.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// The time that a run has left. Clones share one clock.
#[derive(Debug, Clone)]
pub struct RunClock(Arc<watch::Sender<Reading>>);

/// Keeps the clock stopped until dropped.
#[derive(Debug)]
pub struct StoppedClock(RunClock);

#[derive(Debug, Clone, Copy)]
struct Reading {
    /// When the clock runs out. While the clock is stopped, the value is as of `stopped_at`.
    deadline: Instant,
    /// Number of living [`StoppedClock`]s.
    stops: u32,
    /// When the first living [`StoppedClock`] was made.
    stopped_at: Instant,
}

// === impl RunClock ===

impl RunClock {
    /// A clock that runs out at `deadline`.
    pub fn until(deadline: Instant) -> Self {
        let reading = Reading {
            deadline,
            stops: 0,
            stopped_at: deadline,
        };
        Self(Arc::new(watch::Sender::new(reading)))
    }

    /// Stops the clock until every [`StoppedClock`] has been dropped. The caller must limit the wait, because no limit
    /// of the run does.
    #[must_use]
    pub fn stop(&self) -> StoppedClock {
        self.0.send_modify(|reading| {
            if reading.stops == 0 {
                reading.stopped_at = Instant::now();
            }
            reading.stops += 1;
        });
        StoppedClock(self.clone())
    }

    /// When the clock runs out, unless stopped again.
    pub fn deadline(&self) -> Instant {
        self.0.borrow().deadline()
    }

    /// Waits until the clock has run out.
    pub async fn ran_out(&self) {
        let mut changes = self.0.subscribe();
        loop {
            let Reading { deadline, stops, .. } = *changes.borrow_and_update();
            tokio::select! {
                () = sleep_until(deadline), if stops == 0 => return,
                // `self` holds the sender, so waiting cannot fail.
                _ = changes.changed() => {}
            }
        }
    }
}

// === impl StoppedClock ===

impl Drop for StoppedClock {
    fn drop(&mut self) {
        self.0.0.send_modify(|reading| {
            reading.deadline = match reading.stops {
                1 => reading.deadline(),
                _ => reading.deadline,
            };
            reading.stops -= 1;
        });
    }
}

// === impl Reading ===

impl Reading {
    fn deadline(&self) -> Instant {
        match self.stops {
            0 => self.deadline,
            _ => self.deadline + self.stopped_at.elapsed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{advance, timeout};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_clock_runs_out_at_its_deadline() {
        let begun = Instant::now();
        RunClock::until(begun + SECOND).ran_out().await;
        assert_eq!(begun.elapsed(), SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stopped_clock_resumes_when_the_last_stop_is_dropped() {
        let clock = RunClock::until(Instant::now() + SECOND);
        let (first, second) = (clock.stop(), clock.stop());
        assert!(timeout(100 * SECOND, clock.ran_out()).await.is_err());
        drop(first);
        assert!(timeout(100 * SECOND, clock.ran_out()).await.is_err());
        assert_eq!(clock.deadline(), Instant::now() + SECOND);
        drop(second);
        let going = Instant::now();
        clock.ran_out().await;
        assert_eq!(going.elapsed(), SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_may_be_stopped_while_somebody_waits_for_it() {
        let begun = Instant::now();
        let clock = RunClock::until(begun + SECOND);
        let waiting = tokio::spawn({
            let clock = clock.clone();
            async move { clock.ran_out().await }
        });
        advance(SECOND / 2).await;
        let stopped = clock.stop();
        advance(10 * SECOND).await;
        drop(stopped);
        waiting.await.expect("the clock ran out");
        assert_eq!(begun.elapsed(), 11 * SECOND);
    }
}
