//! The learner's task: observes answers on a blocking thread, writes the result, and reads what other processes
//! learned.

use std::sync::Arc;
use std::time::Duration;

use store::learned::{Mark, Written};
use store::{Shapes, Trouble};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use super::states::{States, Storage, merged};
use super::{Job, Message, SharedLearner};

/// Delay before a new shape is written, so that several shapes are written together.
const SOON: Duration = Duration::from_millis(50);
/// Delay before new call counts are written.
const LATER: Duration = Duration::from_secs(2);
/// Pause after a database error.
const RETRY: Duration = Duration::from_secs(10);
/// Answers observed in one step.
const BATCH: usize = 64;

pub(super) struct Task {
    shared: Arc<SharedLearner>,
    shapes: Option<Shapes>,
    states: States,
    /// Counter of `forget` requests at the last read.
    forgotten: i64,
    mark: Mark,
    due: Option<Instant>,
    not_before: Option<Instant>,
    is_told_of_trouble: bool,
}

// === impl Task ===

impl Task {
    pub(super) fn new(shared: Arc<SharedLearner>) -> Task {
        let shapes = shared.learning.database.clone().map(Shapes::new);
        Task {
            shared,
            shapes,
            states: States::default(),
            forgotten: 0,
            mark: Mark::default(),
            due: None,
            not_before: None,
            is_told_of_trouble: false,
        }
    }

    pub(super) async fn run(
        mut self,
        mut messages: mpsc::Receiver<Message>,
        mut asked: watch::Receiver<u64>,
    ) {
        self.look().await;
        let mut batch = Vec::with_capacity(BATCH);
        let mut is_open = true;
        while is_open {
            let due = self.due.unwrap_or_else(Instant::now);
            tokio::select! {
                biased;
                // The sender lives as long as this task.
                _ = asked.changed() => {
                    let number = *asked.borrow_and_update();
                    self.look().await;
                    self.shared.done.send_replace(number);
                }
                () = sleep_until(due), if self.due.is_some() => self.write().await,
                received = messages.recv_many(&mut batch, BATCH) => {
                    is_open = received > 0 && !batch.iter().any(Message::is_close);
                    let jobs = batch.drain(..).filter_map(Message::into_job);
                    self.take_in(jobs.collect()).await;
                }
            }
        }
        self.not_before = None;
        self.write().await;
        if let Some(shapes) = &self.shapes {
            shapes.close().await;
        }
    }

    /// Observes answers on a blocking thread.
    async fn take_in(&mut self, jobs: Vec<Job>) {
        let shared = self.shared.clone();
        let storage = match self.shapes {
            Some(_) => Storage::Database,
            None => Storage::Memory,
        };
        let mut states = std::mem::take(&mut self.states);
        let work = move || {
            let mut has_changed = false;
            for job in jobs {
                has_changed |= states.take_in(&shared, job, storage);
            }
            (states, has_changed)
        };
        match tokio::task::spawn_blocking(work).await {
            Ok((states, has_changed)) => {
                self.states = states;
                self.schedule(if has_changed { SOON } else { LATER });
            }
            // Read everything again.
            Err(_) => self.mark = Mark::default(),
        }
    }

    /// Schedules a write after `wait`, or later after a database error.
    fn schedule(&mut self, wait: Duration) {
        let at = Instant::now() + wait;
        let at = self.not_before.map_or(at, |not_before| at.max(not_before));
        self.due = Some(self.due.map_or(at, |before| before.min(at)));
    }

    /// Reads what other processes learned or forgot.
    async fn look(&mut self) {
        let Some(shapes) = self.shapes.clone() else { return };
        if self.not_before.is_some_and(|at| at > Instant::now()) {
            return;
        }
        match shapes.mark().await {
            Ok(mark) if mark == self.mark => {}
            Ok(mark) => self.read(&shapes, mark).await,
            Err(trouble) => self.tell(&trouble),
        }
    }

    async fn read(&mut self, shapes: &Shapes, mark: Mark) {
        let all = match shapes.all().await {
            Ok(all) => all,
            Err(trouble) => return self.tell(&trouble),
        };
        self.mark = mark;
        if all.forgotten != self.forgotten {
            self.states.forget_fresh();
        }
        self.forgotten = all.forgotten;
        let tools = self.states.read(all);
        self.shared.known.replace(tools);
    }

    async fn write(&mut self) {
        self.due = None;
        let Some(shapes) = self.shapes.clone() else { return };
        let fresh = self.states.fresh();
        if fresh.is_empty() {
            return;
        }
        match shapes.merge(&fresh, self.forgotten, merged).await {
            Ok(Written::Merged { known, before, after }) => {
                for ((subject, _), known) in fresh.iter().zip(known) {
                    self.states.wrote(&self.shared, subject, known);
                }
                // No other process wrote since the last read.
                if before == self.mark {
                    self.mark = after;
                }
                self.is_told_of_trouble = false;
            }
            Ok(Written::Forgotten) => self.read(&shapes, Mark::default()).await,
            Err(trouble) => {
                self.tell(&trouble);
                self.schedule(RETRY);
            }
        }
    }

    fn tell(&mut self, trouble: &Trouble) {
        self.not_before = Some(Instant::now() + RETRY);
        if !std::mem::replace(&mut self.is_told_of_trouble, true) {
            tracing::warn!("learned types are not stored: {trouble}");
        }
    }
}
