//! Counts a server's pending work and measures its idle time.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// Pending work and idle time of one server.
#[derive(Debug)]
pub(crate) struct Activity {
    current: Mutex<Current>,
    /// Notified when the last pending work ends.
    became_idle: Notify,
}

#[derive(Debug)]
struct Current {
    pending: usize,
    /// When work was last pending.
    last_active: Instant,
}

/// Counts as pending work until it is dropped.
#[derive(Debug)]
pub(crate) struct ActivityGuard(Arc<Activity>);

impl Activity {
    pub(crate) fn new() -> Arc<Activity> {
        let current = Current {
            pending: 0,
            last_active: Instant::now(),
        };
        Arc::new(Activity {
            current: Mutex::new(current),
            became_idle: Notify::new(),
        })
    }

    /// Counts new work until the guard is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> ActivityGuard {
        self.current().pending += 1;
        ActivityGuard(Arc::clone(self))
    }

    /// Restarts the idle time without counting work.
    pub(crate) fn touch(&self) {
        self.current().last_active = Instant::now();
    }

    pub(crate) fn pending(&self) -> usize {
        self.current().pending
    }

    /// Waits until no work has been pending for this time. New work may begin right afterwards.
    pub(crate) async fn idle(&self, time: Duration) {
        loop {
            let until = {
                let current = self.current();
                (current.pending == 0).then(|| current.last_active + time)
            };
            match until {
                None => self.became_idle.notified().await,
                Some(until) if until <= Instant::now() => return,
                Some(until) => sleep_until(until).await,
            }
        }
    }

    /// Runs the action if no work is pending; returns whether the action ran. New work waits until the action ends.
    pub(crate) fn if_idle(&self, action: impl FnOnce()) -> bool {
        let current = self.current();
        let is_idle = current.pending == 0;
        if is_idle {
            action();
        }
        is_idle
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock()
    }
}

impl Drop for ActivityGuard {
    fn drop(&mut self) {
        let mut current = self.0.current();
        current.pending -= 1;
        current.last_active = Instant::now();
        if current.pending == 0 {
            self.0.became_idle.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Duration = Duration::from_secs(600);

    #[tokio::test(start_paused = true)]
    async fn idle_is_counted_from_the_end_of_the_last() {
        let activity = Activity::new();
        let start = Instant::now();
        let busy = activity.begin();
        let end = async {
            tokio::time::sleep(TIME).await;
            assert!(!activity.if_idle(|| panic!("somebody waits")));
            drop(activity.begin());
            drop(busy);
        };
        tokio::join!(activity.idle(TIME), end);
        assert_eq!(start.elapsed(), TIME * 2);
        assert_eq!(activity.pending(), 0);
        assert!(activity.if_idle(|| ()));
    }
}
