//! Whether anybody waits for a server: counts what is under way, and tells since when there is nothing.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// What is under way with one server.
#[derive(Debug)]
pub(crate) struct Activity {
    now: Mutex<Now>,
    /// Told when the last of what was under way is over.
    quiet: Notify,
}

#[derive(Debug)]
struct Now {
    under_way: usize,
    /// When something was under way the last time.
    last: Instant,
}

/// Something that is under way for as long as it lives.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Activity>);

impl Activity {
    pub(crate) fn new() -> Arc<Activity> {
        let now = Now {
            under_way: 0,
            last: Instant::now(),
        };
        Arc::new(Activity {
            now: Mutex::new(now),
            quiet: Notify::new(),
        })
    }

    /// Notes that something begins.
    pub(crate) fn begin(self: &Arc<Self>) -> Busy {
        self.now().under_way += 1;
        Busy(Arc::clone(self))
    }

    /// Notes that the server has just been of use in another way.
    pub(crate) fn touch(&self) {
        self.now().last = Instant::now();
    }

    /// How much is under way.
    pub(crate) fn under_way(&self) -> usize {
        self.now().under_way
    }

    /// Waits until nothing has been under way for so long; something may begin right after.
    pub(crate) async fn idle(&self, time: Duration) {
        loop {
            let until = {
                let now = self.now();
                (now.under_way == 0).then(|| now.last + time)
            };
            match until {
                None => self.quiet.notified().await,
                Some(until) if until <= Instant::now() => return,
                Some(until) => sleep_until(until).await,
            }
        }
    }

    /// Does this if nothing is under way; nothing begins meanwhile. Tells whether it was done.
    pub(crate) fn if_quiet(&self, rest: impl FnOnce()) -> bool {
        let now = self.now();
        let is_quiet = now.under_way == 0;
        if is_quiet {
            rest();
        }
        is_quiet
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut now = self.0.now();
        now.under_way -= 1;
        now.last = Instant::now();
        if now.under_way == 0 {
            self.0.quiet.notify_one();
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
            assert!(!activity.if_quiet(|| panic!("somebody waits")));
            drop(activity.begin());
            drop(busy);
        };
        tokio::join!(activity.idle(TIME), end);
        assert_eq!(start.elapsed(), TIME * 2);
        assert_eq!(activity.under_way(), 0);
        assert!(activity.if_quiet(|| ()));
    }
}
