//! The rows that wait to be written: bounded for those who begin something, never in the way of those who end it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::timeout;

use crate::rows::Row;
use crate::trouble::Trouble;

/// How long rows gather before they are written: with the time that writing takes this is below the 100 ms that a killed
/// process loses at most.
const GATHER: Duration = Duration::from_millis(50);
/// Bytes that may wait before whoever begins a run or a call waits too.
pub(crate) const MOST: usize = 8 * 1024 * 1024;

/// Who wants to know that a row is committed.
pub(crate) type Teller = oneshot::Sender<Result<(), Trouble>>;

/// Rows on their way to the database.
#[derive(Debug)]
pub(crate) struct Queue {
    most: usize,
    state: Mutex<QueueState>,
    filled: Notify,
    urgent: Notify,
    emptied: Notify,
}

#[derive(Debug, Default)]
struct QueueState {
    batch: Batch,
    weight: usize,
    is_urgent: bool,
    is_closed: bool,
}

/// Rows in the order in which they came, and whoever waits for them.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) rows: Vec<Row>,
    pub(crate) tellers: Vec<Teller>,
    /// The queue was closed when it was taken, so nothing comes after it.
    pub(crate) is_last: bool,
}

// === impl Queue ===

impl Queue {
    /// An empty one that holds about so many bytes before it makes wait.
    pub(crate) fn new(most: usize) -> Queue {
        Queue {
            most,
            state: Mutex::default(),
            filled: Notify::new(),
            urgent: Notify::new(),
            emptied: Notify::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while too much waits to be written; what is closed takes nothing, so nobody waits for it.
    pub(crate) async fn room(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.has_room() {
                return;
            }
            emptied.await;
        }
    }

    fn has_room(&self) -> bool {
        let state = self.state();
        state.is_closed || state.weight < self.most
    }

    /// Adds a row, whatever waits already: whoever ends something has been let in before. `false` if the queue is closed.
    pub(crate) fn push(&self, row: Row) -> bool {
        let mut state = self.state();
        if state.is_closed {
            return false;
        }
        let first = state.batch.rows.is_empty();
        state.weight += row.weight();
        let full = state.weight >= self.most;
        state.batch.rows.push(row);
        drop(state);
        if first {
            self.filled.notify_one();
        }
        if full {
            self.urgent.notify_one();
        }
        true
    }

    /// Has everything that waits written now; the answer comes when it is committed, or cannot be.
    pub(crate) fn flush(&self) -> oneshot::Receiver<Result<(), Trouble>> {
        let (teller, told) = oneshot::channel();
        let mut state = self.state();
        if !state.is_closed {
            state.batch.tellers.push(teller);
            state.is_urgent = true;
            drop(state);
            self.filled.notify_one();
            self.urgent.notify_one();
        }
        told
    }

    /// Takes nothing any more; what waits is still written.
    pub(crate) fn close(&self) {
        self.state().is_closed = true;
        self.filled.notify_one();
        self.urgent.notify_one();
        self.emptied.notify_waiters();
    }

    /// Nobody writes any more: closes, and drops what waits, so that nobody waits for that either.
    pub(crate) fn give_up(&self) {
        self.close();
        let batch = std::mem::take(&mut self.state().batch);
        drop(batch);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state().is_closed
    }

    pub(crate) fn has_rows(&self) -> bool {
        !self.state().batch.is_empty()
    }

    /// Waits for rows, then a moment for more of them. The last batch may be empty.
    pub(crate) async fn next(&self) -> Batch {
        while self.waits_for_rows() {
            self.filled.notified().await;
        }
        // Elapsed or not: what is there is taken.
        let _ = timeout(GATHER, self.hurried()).await;
        let mut state = self.state();
        state.weight = 0;
        state.is_urgent = false;
        let mut batch = std::mem::take(&mut state.batch);
        batch.is_last = state.is_closed;
        drop(state);
        self.emptied.notify_waiters();
        batch
    }

    fn waits_for_rows(&self) -> bool {
        let state = self.state();
        state.batch.is_empty() && !state.is_closed
    }

    /// Resolves when somebody waits for the rows.
    async fn hurried(&self) {
        while !self.is_hurried() {
            self.urgent.notified().await;
        }
    }

    /// Whether somebody waits for what is queued, or may have to soon.
    pub(crate) fn is_hurried(&self) -> bool {
        let state = self.state();
        state.is_urgent || state.is_closed || state.weight >= self.most
    }
}

// === impl Batch ===

impl Batch {
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.tellers.is_empty()
    }

    /// Answers everybody who waits for these rows.
    pub(crate) fn tell(self, done: &Result<(), Trouble>) {
        for teller in self.tellers {
            // Whoever has gone away does not want to know.
            let _ = teller.send(done.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Event;

    fn row() -> Row {
        Row::Event(Event {
            run: None,
            at_ms: 0,
            kind: "session_lost",
            detail: String::new(),
        })
    }

    #[tokio::test]
    async fn only_what_is_taken_after_the_close_is_the_last() {
        let queue = Queue::new(usize::MAX);
        assert!(queue.push(row()));
        let batch = queue.next().await;
        assert!(queue.push(row()));
        queue.close();
        assert!(!batch.is_last && !queue.push(row()));
        let batch = queue.next().await;
        assert!(batch.is_last && batch.rows.len() == 1);
    }

    #[tokio::test]
    async fn nobody_waits_for_a_writer_that_is_gone() {
        let queue = Queue::new(1);
        assert!(queue.push(row()));
        let told = queue.flush();
        let waiting = async {
            tokio::join!(queue.room(), async {
                tokio::task::yield_now().await;
                queue.give_up();
            })
        };
        timeout(Duration::from_secs(10), waiting).await.expect("no wait");
        assert!(told.await.is_err() && !queue.has_rows());
    }
}
