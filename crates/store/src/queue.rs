//! Rows that wait to be written.
//!
//! A full queue delays new runs and calls, but never the end of a run or call.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::timeout;

use crate::rows::Row;
use crate::trouble::Trouble;

/// Time to collect rows before a write. A killed process may lose the rows of 100 ms, including the write.
const GATHER: Duration = Duration::from_millis(50);
/// Bytes that may be queued before a new run or call must wait.
pub(crate) const MOST: usize = 8 * 1024 * 1024;

/// Reports that a row is committed.
pub(crate) type Teller = oneshot::Sender<Result<(), Trouble>>;

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

/// Rows that wait to be written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordsQueue {
    /// Number of rows.
    pub rows: usize,
    /// Approximate memory of these rows, in bytes.
    pub bytes: usize,
}

/// Rows in order of arrival, with the tasks that wait for them.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) rows: Vec<Row>,
    pub(crate) tellers: Vec<Teller>,
    /// Whether the queue was closed when the batch was taken, so that no batch follows.
    pub(crate) is_last: bool,
}

// === impl Queue ===

impl Queue {
    /// An empty queue that makes callers wait if more than about `most` bytes are queued.
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

    /// The rows that wait now.
    pub(crate) fn figures(&self) -> RecordsQueue {
        let state = self.state();
        RecordsQueue {
            rows: state.batch.rows.len(),
            bytes: state.weight,
        }
    }

    /// Waits while the queue is full; returns at once if it is closed.
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

    /// Adds a row, even to a full queue, because its beginning was admitted. `false` if the queue is closed.
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

    /// Requests an immediate write of all queued rows; resolves when the rows are committed or have failed.
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

    /// Accepts no more rows; the waiting ones are still written.
    pub(crate) fn close(&self) {
        self.state().is_closed = true;
        self.filled.notify_one();
        self.urgent.notify_one();
        self.emptied.notify_waiters();
    }

    /// Closes the queue after the writer ended. Drops the queued rows, so that no task waits for them.
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

    /// Waits for rows, then collects more rows for a moment. The last batch may be empty.
    pub(crate) async fn next(&self) -> Batch {
        while self.waits_for_rows() {
            self.filled.notified().await;
        }
        // Take the queued rows even after a time-out.
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

    /// Resolves when a task waits for queued rows.
    async fn hurried(&self) {
        while !self.is_hurried() {
            self.urgent.notified().await;
        }
    }

    /// Whether a task waits for queued rows, or soon may have to wait.
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

    /// Reports the result to each task that waits for these rows.
    pub(crate) fn tell(self, done: &Result<(), Trouble>) {
        for teller in self.tellers {
            // The waiting task may have ended.
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
