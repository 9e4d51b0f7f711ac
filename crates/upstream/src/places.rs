//! Places for servers that are being started: a few at once, so that many of them do not take the machine from each other.

use std::pin::pin;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;

/// How long a start holds its place. What takes longer waits for something other than this machine, and must not hold
/// up others.
pub(crate) const HOLD: Duration = Duration::from_secs(5);

/// So many pieces of work at once, in the order in which they were asked for.
#[derive(Debug)]
pub(crate) struct Places {
    free: Semaphore,
    hold: Duration,
}

impl Places {
    pub(crate) fn new(count: usize, hold: Duration) -> Places {
        Places {
            free: Semaphore::new(count),
            hold,
        }
    }

    /// Waits for a place, then works; work that takes long goes on without its place.
    pub(crate) async fn run<F: Future>(&self, work: F) -> F::Output {
        // It is never closed, so that waiting cannot fail.
        let place = self.free.acquire().await;
        let mut work = pin!(work);
        match timeout(self.hold, &mut work).await {
            Ok(done) => done,
            Err(_elapsed) => {
                drop(place);
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

    /// Asks for a place for each of these pieces of work, which say when they begin and end when they are told.
    fn ask(places: &Arc<Places>, count: usize) -> (mpsc::Receiver<usize>, Vec<oneshot::Sender<()>>) {
        let (begun, begins) = mpsc::channel(count);
        let ends = (0..count).map(|number| {
            let (end, ended) = oneshot::channel();
            let (places, begun) = (Arc::clone(places), begun.clone());
            let work = async move {
                begun.send(number).await.expect("a listener");
                let _ = ended.await;
            };
            tokio::spawn(async move { places.run(work).await });
            end
        });
        let ends = ends.collect();
        (begins, ends)
    }

    #[tokio::test]
    async fn the_next_begins_when_one_ends() {
        let places = Arc::new(Places::new(2, HOLD));
        let (mut begins, mut ends) = ask(&places, 4);
        assert_eq!((begins.recv().await, begins.recv().await), (Some(0), Some(1)));
        assert!(begins.try_recv().is_err());
        drop(ends.remove(1));
        assert_eq!(begins.recv().await, Some(2));
        assert!(begins.try_recv().is_err());
        drop(ends);
        assert_eq!(begins.recv().await, Some(3));
    }

    #[tokio::test]
    async fn work_that_takes_long_holds_up_nobody() {
        let places = Arc::new(Places::new(1, Duration::from_millis(10)));
        let (mut begins, _ends) = ask(&places, 3);
        for number in 0..3 {
            assert_eq!(begins.recv().await, Some(number));
        }
    }
}
