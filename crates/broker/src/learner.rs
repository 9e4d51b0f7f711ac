//! Observes the results of tools and tells what was learned: off the path of calls, which it never makes wait.
//!
//! ```text
//! call ─► Learner::observe (a copy of the answer, or nothing) ─► bounded queue ─► Task ─► store, every now and then
//!                                                                                  └─► States, on a thread of their own
//!                                                                                       └─► Known: entry by entry
//! ```

mod known;
mod states;
mod task;

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use catalog::{Entry, LARGEST_RESULT};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use store::{Learning, Records};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use types::{Principal, RunId, bulk};

pub use known::LearnedTypes;
use known::{Known, LearnerScope};
use task::Task;

/// Answers that wait to be looked at.
const MOST_JOBS: usize = 256;
/// Bytes of them.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// Between two looks at what other processes have done.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long somebody who asks waits for that.
const LOOKING: Duration = Duration::from_secs(1);
/// How long what was learned last may take to be written when the process ends.
const CLOSING: Duration = Duration::from_secs(3);

/// The door of learning. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Learner {
    shared: Arc<SharedLearner>,
}

#[derive(Debug)]
struct SharedLearner {
    learning: Learning,
    records: Records,
    sender: mpsc::Sender<Message>,
    /// Until the task takes it.
    receiver: Mutex<Option<mpsc::Receiver<Message>>>,
    task: OnceLock<Mutex<Option<JoinHandle<()>>>>,
    /// Bytes of the answers that wait.
    waiting: AtomicUsize,
    /// When somebody asked last for what other processes have done.
    looked: Mutex<Option<Instant>>,
    /// The number of the last refresh that was asked for.
    asked: watch::Sender<u64>,
    /// The number of the last refresh that is finished.
    done: watch::Sender<u64>,
    known: Arc<Known>,
    /// Of arguments; another one in each process.
    hasher: RandomState,
}

#[derive(Debug)]
enum Message {
    Answered(Box<Job>),
    Close,
}

/// One answer to be looked at.
#[derive(Debug)]
struct Job {
    whose: LearnerScope,
    entry: Arc<Entry>,
    run: RunId,
    /// Hash of the arguments.
    arguments: u64,
    answer: Box<RawValue>,
}

// === impl Learner ===

impl Learner {
    /// Starts nothing and reads nothing.
    pub(crate) fn new(learning: Learning, records: Records) -> Learner {
        let (sender, receiver) = mpsc::channel(MOST_JOBS);
        Learner {
            shared: Arc::new(SharedLearner {
                learning,
                records,
                sender,
                receiver: Mutex::new(Some(receiver)),
                task: OnceLock::new(),
                waiting: AtomicUsize::new(0),
                looked: Mutex::default(),
                asked: watch::Sender::default(),
                done: watch::Sender::default(),
                known: Arc::default(),
                hasher: RandomState::new(),
            }),
        }
    }

    /// Reads in the background what earlier processes learned.
    pub(crate) fn warm(&self) {
        if self.shared.learning.enabled {
            self.shared.start();
        }
    }

    /// Tells calls apart by their arguments, as long as the process lives.
    pub(crate) fn hash(&self, arguments: &Map<String, Value>) -> u64 {
        match self.shared.learning.enabled {
            true => self.shared.hasher.hash_one(arguments),
            false => 0,
        }
    }

    /// Has an answer looked at, unless enough of that tool were, or too many wait.
    pub(crate) fn observe(
        &self,
        principal: &Principal,
        entry: &Arc<Entry>,
        run: &RunId,
        arguments: u64,
        answer: &RawValue,
    ) {
        let shared = &self.shared;
        let bytes = answer.get().len();
        // A short answer of many small values would take many times its bytes when it is looked at.
        let is_small = |answer: &str| bulk::check(answer.as_bytes(), bulk::BUFFERED).is_ok();
        if !shared.learning.enabled || bytes > LARGEST_RESULT || !is_small(answer.get()) {
            return;
        }
        let whose = LearnerScope::of(principal, &shared.learning);
        if shared.known.skips(&whose, entry) || !shared.reserve(bytes) {
            return;
        }
        let job = Job {
            whose,
            entry: entry.clone(),
            run: run.clone(),
            arguments,
            answer: answer.to_owned(),
        };
        if shared.sender.try_send(Message::Answered(Box::new(job))).is_err() {
            shared.release(bytes);
        }
        shared.start();
    }

    /// Lets go of what is known for a principal.
    pub(crate) fn forget(&self, principal: &Principal) {
        if !self.shared.learning.shared {
            self.shared
                .known
                .forget(&LearnerScope::of(principal, &self.shared.learning));
        }
    }

    /// What is known for this principal now.
    pub(crate) async fn learned(&self, principal: &Principal) -> LearnedTypes {
        let shared = &self.shared;
        let whose = LearnerScope::of(principal, &shared.learning);
        if shared.learning.enabled {
            shared.start();
            shared.look().await;
        }
        LearnedTypes::new(shared.known.clone(), whose)
    }

    /// Writes what is not written yet, and ends.
    pub(crate) async fn close(&self) {
        let task = self.shared.task.get();
        let task = task.and_then(|task| task.lock().unwrap_or_else(PoisonError::into_inner).take());
        let Some(mut task) = task else { return };
        let ended = async {
            // An error means that it has ended already.
            let _ = self.shared.sender.send(Message::Close).await;
            (&mut task).await
        };
        if timeout(CLOSING, ended).await.is_err() {
            tracing::warn!(
                "what was learned last could not be written within {} s",
                CLOSING.as_secs()
            );
            task.abort();
        }
    }
}

// === impl Message ===

impl Message {
    fn is_close(&self) -> bool {
        matches!(self, Message::Close)
    }

    fn into_job(self) -> Option<Job> {
        match self {
            Message::Answered(job) => Some(*job),
            Message::Close => None,
        }
    }
}

// === impl SharedLearner ===

impl SharedLearner {
    fn start(self: &Arc<Self>) {
        self.task.get_or_init(|| {
            let receiver = self
                .receiver
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            let task = receiver.map(|receiver| {
                let asked = self.asked.subscribe();
                tokio::spawn(Task::new(self.clone()).run(receiver, asked))
            });
            Mutex::new(task)
        });
    }

    /// Waits until the task has looked at what other processes have done, if it is time for that.
    async fn look(&self) {
        if self.learning.database.is_none() {
            return;
        }
        if self.looks_now() {
            self.asked.send_modify(|number| *number += 1);
        }
        let number = *self.asked.borrow();
        let mut done = self.done.subscribe();
        // What is not there in time is not known yet.
        let _ = timeout(LOOKING, done.wait_for(|done| *done >= number)).await;
    }

    /// Whether it is time to look at what other processes have done.
    fn looks_now(&self) -> bool {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let is_time = looked.is_none_or(|looked| looked.elapsed() >= LOOK_EVERY);
        if is_time {
            *looked = Some(Instant::now());
        }
        is_time
    }

    /// Room for an answer; `false` if too many bytes wait.
    fn reserve(&self, bytes: usize) -> bool {
        let before = self.waiting.fetch_add(bytes, Ordering::Relaxed);
        let fits = before + bytes <= MOST_BYTES;
        if !fits {
            self.release(bytes);
        }
        fits
    }

    fn release(&self, bytes: usize) {
        self.waiting.fetch_sub(bytes, Ordering::Relaxed);
    }
}
