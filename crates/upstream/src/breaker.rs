//! The circuit breaker of one server: after several failures in a row, calls fail at once until a trial call
//! succeeds.
//!
//! ```text
//!            5 failures in a row              the pause ends
//!   closed ─────────────────────► open ────────────────────────► half open: one trial call
//!      ▲                           ▲                                │ it failed: twice the pause
//!      │                           └────────────────────────────────┤
//!      └────────────────────────────────────────────────────────────┘ it was answered
//! ```

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;

use crate::error::UpstreamError;

/// Consecutive failures that open the breaker.
const MAX_FAILURES: u32 = 5;
/// Each further pause doubles, up to `LAST_PAUSE`.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LAST_PAUSE: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(crate) struct Breaker {
    state: Mutex<BreakerState>,
}

#[derive(Debug, Default)]
struct BreakerState {
    /// Failures since the last success.
    failures: u32,
    /// Pauses since the last success.
    pauses: u32,
    open: Option<Opening>,
    /// Number of openings; identifies the trial call of the current opening.
    openings: u64,
}

#[derive(Debug)]
struct Opening {
    cause: UpstreamError,
    until: Instant,
    /// Whether the trial call is pending.
    is_tried: bool,
}

#[derive(Debug)]
pub(crate) struct Rejection {
    pub(crate) failures: u32,
    pub(crate) cause: Box<UpstreamError>,
    pub(crate) retry_in: Duration,
}

/// An admitted call. A call that is dropped without an outcome is not counted.
#[derive(Debug)]
pub(crate) struct Admission {
    breaker: Arc<Breaker>,
    /// The opening whose trial call this is.
    trial_of: Option<u64>,
}

impl Breaker {
    pub(crate) fn admit(self: &Arc<Self>) -> Result<Admission, Rejection> {
        let mut state = self.state();
        let (failures, openings) = (state.failures, state.openings);
        let trial_of = match &mut state.open {
            None => None,
            Some(open) => {
                let now = Instant::now();
                if open.is_tried || open.until > now {
                    return Err(Rejection {
                        failures,
                        cause: Box::new(open.cause.clone()),
                        retry_in: open.until.saturating_duration_since(now),
                    });
                }
                open.is_tried = true;
                Some(openings)
            }
        };
        Ok(Admission {
            breaker: Arc::clone(self),
            trial_of,
        })
    }

    /// The last failure, if the breaker is open.
    pub(crate) fn open_for(&self) -> Option<UpstreamError> {
        self.state().open.as_ref().map(|open| open.cause.clone())
    }

    fn state(&self) -> MutexGuard<'_, BreakerState> {
        self.state.lock()
    }
}

impl Admission {
    pub(crate) fn succeeded(self) {
        let mut state = self.breaker.state();
        *state = BreakerState {
            openings: state.openings,
            ..BreakerState::default()
        };
    }

    /// Records a failure of the server. Returns whether this failure opened the breaker.
    pub(crate) fn failed(self, cause: UpstreamError) -> bool {
        let mut state = self.breaker.state();
        state.failures = state.failures.saturating_add(1);
        // Calls that started before the breaker opened have no effect.
        let opens = match state.open {
            Some(_) => self.trial_of == Some(state.openings),
            None => state.failures >= MAX_FAILURES,
        };
        if opens {
            let doublings = state.pauses.min(10);
            state.pauses += 1;
            state.openings += 1;
            let pause = FIRST_PAUSE.saturating_mul(1 << doublings).min(LAST_PAUSE);
            state.open = Some(Opening {
                cause,
                until: Instant::now() + pause,
                is_tried: false,
            });
        }
        opens
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        let mut state = self.breaker.state();
        let is_of_this_opening = self.trial_of == Some(state.openings);
        if let Some(open) = state.open.as_mut().filter(|_| is_of_this_opening) {
            open.is_tried = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(number: u32) -> UpstreamError {
        UpstreamError::UnknownServer {
            server: number.to_string(),
        }
    }

    fn fail(breaker: &Arc<Breaker>, number: u32) -> bool {
        breaker.admit().expect("closed").failed(cause(number))
    }

    fn refused(breaker: &Arc<Breaker>) -> Duration {
        breaker.admit().expect_err("open").retry_in
    }

    #[tokio::test(start_paused = true)]
    async fn it_opens_after_failures_in_a_row_and_closes_with_an_answer() {
        let breaker = Arc::new(Breaker::default());
        for number in 1..MAX_FAILURES {
            assert!(!fail(&breaker, number));
        }
        breaker.admit().expect("closed").succeeded();
        for number in 1..MAX_FAILURES {
            assert!(!fail(&breaker, number));
        }
        let late = breaker.admit().expect("closed");
        assert!(fail(&breaker, MAX_FAILURES));
        assert!(!late.failed(cause(99)), "it is open already");
        let refusal = breaker.admit().expect_err("open");
        assert_eq!(refusal.retry_in, FIRST_PAUSE);
        assert!(refusal.cause.to_string().contains("'5'"), "{refusal:?}");
        tokio::time::advance(FIRST_PAUSE).await;
        let probe = breaker.admit().expect("half open");
        assert_eq!(refused(&breaker), Duration::ZERO);
        assert!(probe.failed(cause(6)));
        assert_eq!(refused(&breaker), FIRST_PAUSE * 2);
        tokio::time::advance(FIRST_PAUSE * 2).await;
        drop(breaker.admit().expect("half open"));
        breaker.admit().expect("the last probe said nothing").succeeded();
        assert!(breaker.open_for().is_none() && !fail(&breaker, 1));
    }

    fn open(breaker: &Arc<Breaker>) {
        while !fail(breaker, 0) {}
    }

    #[tokio::test(start_paused = true)]
    async fn a_probe_of_an_earlier_opening_counts_as_any_other_call() {
        let breaker = Arc::new(Breaker::default());
        let late = breaker.admit().expect("closed");
        open(&breaker);
        tokio::time::advance(FIRST_PAUSE).await;
        let stale = breaker.admit().expect("half open");
        late.succeeded();
        let late = breaker.admit().expect("closed");
        open(&breaker);
        tokio::time::advance(FIRST_PAUSE).await;
        let dropped = breaker.admit().expect("half open");
        late.succeeded();
        assert!(!stale.failed(cause(1)), "one failure since the last answer");
        assert!(breaker.open_for().is_none());
        open(&breaker);
        tokio::time::advance(FIRST_PAUSE).await;
        let probe = breaker.admit().expect("half open");
        drop(dropped);
        breaker.admit().expect_err("one probe at a time");
        assert!(probe.failed(cause(2)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_has_a_longest_length() {
        let breaker = Arc::new(Breaker::default());
        open(&breaker);
        for _ in 0..12 {
            tokio::time::advance(LAST_PAUSE).await;
            assert!(fail(&breaker, 0));
        }
        assert_eq!(refused(&breaker), LAST_PAUSE);
    }
}
