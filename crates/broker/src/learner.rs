//! Learns the types of tools' results off the path of calls; calls never wait for the learner.
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

use catalog::{Entry, MAX_LEARNED_RESULT};
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

/// Limit on answers queued for the learner.
const MOST_JOBS: usize = 256;
/// Limit on the bytes of queued answers.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// Interval of reading the changes of other processes.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Longest wait of a caller for such a read.
const LOOKING: Duration = Duration::from_secs(1);
/// Longest time to write the last observations when the host ends.
const CLOSING: Duration = Duration::from_secs(3);

/// The entry to the learner. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Learner {
    shared: Arc<SharedLearner>,
}

#[derive(Debug)]
struct SharedLearner {
    learning: Learning,
    records: Records,
    sender: mpsc::Sender<Message>,
    /// The receiver; the task takes it when it starts.
    receiver: Mutex<Option<mpsc::Receiver<Message>>>,
    task: OnceLock<Mutex<Option<JoinHandle<()>>>>,
    /// Bytes of waiting answers.
    waiting: AtomicUsize,
    /// Time of the last request for other processes' changes.
    looked: Mutex<Option<Instant>>,
    /// Number of the last requested refresh.
    asked: watch::Sender<u64>,
    /// Number of the last finished refresh.
    done: watch::Sender<u64>,
    known: Arc<Known>,
    /// Hashes arguments; each process has its own seed.
    hasher: RandomState,
}

#[derive(Debug)]
enum Message {
    Answered(Box<Job>),
    Close,
}

#[derive(Debug)]
struct Job {
    whose: LearnerScope,
    entry: Arc<Entry>,
    run: RunId,
    arguments: u64,
    answer: Box<RawValue>,
}

// === impl Learner ===

impl Learner {
    /// Starts and reads nothing.
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

    /// Reads the types that earlier processes learned, in the background.
    pub(crate) fn warm(&self) {
        if self.shared.learning.enabled {
            self.shared.start();
        }
    }

    /// Distinguishes calls by their arguments, for the life of the process.
    pub(crate) fn hash(&self, arguments: &Map<String, Value>) -> u64 {
        match self.shared.learning.enabled {
            true => self.shared.hasher.hash_one(arguments),
            false => 0,
        }
    }

    /// Queues an answer, unless the tool has enough samples or the queue is full.
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
        // Parsing many small values takes a multiple of the answer's bytes.
        let is_small = |answer: &str| bulk::check(answer.as_bytes(), bulk::BUFFERED).is_ok();
        if !shared.learning.enabled || bytes > MAX_LEARNED_RESULT || !is_small(answer.get()) {
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

    pub(crate) fn forget(&self, principal: &Principal) {
        if !self.shared.learning.shared {
            self.shared
                .known
                .forget(&LearnerScope::of(principal, &self.shared.learning));
        }
    }

    pub(crate) async fn learned(&self, principal: &Principal) -> LearnedTypes {
        let shared = &self.shared;
        let whose = LearnerScope::of(principal, &shared.learning);
        if shared.learning.enabled {
            shared.start();
            shared.look().await;
        }
        LearnedTypes::new(shared.known.clone(), whose)
    }

    /// Writes the remaining observations and ends.
    pub(crate) async fn close(&self) {
        let task = self.shared.task.get();
        let task = task.and_then(|task| task.lock().unwrap_or_else(PoisonError::into_inner).take());
        let Some(mut task) = task else { return };
        let ended = async {
            // An error means that the task has ended.
            let _ = self.shared.sender.send(Message::Close).await;
            (&mut task).await
        };
        if timeout(CLOSING, ended).await.is_err() {
            tracing::warn!(
                "the last learned types could not be written within {} s",
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

    /// Waits until the task has read other processes' changes, if that is due.
    async fn look(&self) {
        if self.learning.database.is_none() {
            return;
        }
        if self.looks_now() {
            self.asked.send_modify(|number| *number += 1);
        }
        let number = *self.asked.borrow();
        let mut done = self.done.subscribe();
        // After a time-out, changes that were not read count as unknown.
        let _ = timeout(LOOKING, done.wait_for(|done| *done >= number)).await;
    }

    /// Whether reading other processes' changes is due.
    fn looks_now(&self) -> bool {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let is_time = looked.is_none_or(|looked| looked.elapsed() >= LOOK_EVERY);
        if is_time {
            *looked = Some(Instant::now());
        }
        is_time
    }

    /// Reserves room for an answer; `false` if too many bytes wait.
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
