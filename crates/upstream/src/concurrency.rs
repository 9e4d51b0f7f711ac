//! Limits concurrent starts of servers, so that parallel starts do not slow each other down.

use std::pin::pin;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;

/// After this time a start releases its permit: it waits for something outside this machine and must not delay other
/// starts.
pub(crate) const MAX_HOLD: Duration = Duration::from_secs(5);

/// Runs a limited number of futures at once, first come, first served.
#[derive(Debug)]
pub(crate) struct ConcurrencyLimit {
    free: Semaphore,
    max_hold: Duration,
}

impl ConcurrencyLimit {
    pub(crate) fn new(count: usize, max_hold: Duration) -> ConcurrencyLimit {
        ConcurrencyLimit {
            free: Semaphore::new(count),
            max_hold,
        }
    }

    /// Waits for a permit, then does the work. After `max_hold` the work continues without its permit.
    pub(crate) async fn run<F: Future>(&self, work: F) -> F::Output {
        // The semaphore is never closed, so waiting cannot fail.
        let permit = self.free.acquire().await;
        let mut work = pin!(work);
        match timeout(self.max_hold, &mut work).await {
            Ok(done) => done,
            Err(_elapsed) => {
                drop(permit);
                work.await
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::{mpsc, oneshot};

    use super::*;

    /// Each of `count` futures reports its start, and ends when its sender is dropped.
    fn run(limit: &Arc<ConcurrencyLimit>, count: usize) -> (mpsc::Receiver<usize>, Vec<oneshot::Sender<()>>) {
        let (begun, begins) = mpsc::channel(count);
        let ends = (0..count).map(|number| {
            let (end, ended) = oneshot::channel();
            let (limit, begun) = (Arc::clone(limit), begun.clone());
            let work = async move {
                begun.send(number).await.expect("a listener");
                let _ = ended.await;
            };
            tokio::spawn(async move { limit.run(work).await });
            end
        });
        let ends = ends.collect();
        (begins, ends)
    }

    #[tokio::test]
    async fn the_next_begins_when_one_ends() {
        let limit = Arc::new(ConcurrencyLimit::new(2, MAX_HOLD));
        let (mut begins, mut ends) = run(&limit, 4);
        assert_eq!((begins.recv().await, begins.recv().await), (Some(0), Some(1)));
        assert!(begins.try_recv().is_err());
        drop(ends.remove(1));
        assert_eq!(begins.recv().await, Some(2));
        assert!(begins.try_recv().is_err());
        drop(ends);
        assert_eq!(begins.recv().await, Some(3));
    }

    #[tokio::test]
    async fn slow_work_delays_no_other_work() {
        let limit = Arc::new(ConcurrencyLimit::new(1, Duration::from_millis(10)));
        let (mut begins, _ends) = run(&limit, 3);
        for number in 0..3 {
            assert_eq!(begins.recv().await, Some(number));
        }
    }
}
