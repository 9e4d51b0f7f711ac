//! Sessions that stand ready: confined, warmed, used once; made in the background, as many as demand asks for.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use sandbox::{Access, Attachment, Conversation};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};
use types::Limits;

use crate::leash::ProcessLeash;
use crate::provisions::{Provisions, REFILL_PAUSE};
use crate::station::{Files, Station};

/// How long a session may take to get ready; one that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long after a failure the next attempt is made.
const AFTER_FAILURE: Duration = Duration::from_secs(1);
/// Without a miss for so long, one session less stands ready.
const DECAY: Duration = Duration::from_secs(60);

/// A session that belongs to nobody yet.
pub type Ready = Conversation<ProcessLeash>;

/// What a session is made with and cannot change any more.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Limits, of which those matter that its processes carry.
    pub limits: Limits,
    /// Where its files lie.
    pub files: Files,
}

/// The sessions of one zygote that stand ready.
pub struct Pool {
    most: usize,
    owner: Option<(u32, u32)>,
    state: Mutex<State>,
    changed: Notify,
}

struct State {
    ready: VecDeque<Ready>,
    shape: Shape,
    /// The tree that all sessions share, as it was last.
    shared: Option<Attachment>,
    wanted: usize,
    missed: Instant,
    taken: Instant,
    closed: bool,
}

impl Shape {
    /// Whether a session of this shape can serve one that asks for another.
    fn serves(&self, asked: &Shape) -> bool {
        let carried = |limits: &Limits| {
            let rate = limits.cpu_rate.to_bits();
            let counts = (
                limits.processes,
                limits.open_files,
                limits.network,
                limits.disk_rate,
            );
            (
                limits.memory,
                rate,
                counts,
                limits.file_size,
                limits.disk,
                limits.inodes,
            )
        };
        self.files == asked.files && carried(&self.limits) == carried(&asked.limits)
    }
}

impl Pool {
    /// A pool of at most `most` sessions of one shape, which are to be shown files of `owner`.
    pub fn new(most: u32, shape: Shape, owner: Option<(u32, u32)>) -> Arc<Self> {
        let now = Instant::now();
        Arc::new(Self {
            most: usize::try_from(most).unwrap_or(usize::MAX),
            owner,
            state: Mutex::new(State {
                ready: VecDeque::new(),
                shape,
                shared: None,
                wanted: 1,
                missed: now,
                taken: now,
                closed: false,
            }),
            changed: Notify::new(),
        })
    }

    /// Takes a session of this shape, if one stands ready. What has other limits than most is never made ahead; where files
    /// lie holds for all from now on.
    pub fn take(&self, asked: &Shape, files: &[Attachment]) -> Option<Ready> {
        let mut state = self.state();
        let now = Instant::now();
        state.taken = now;
        let shared = files.iter().find(|file| file.access == Access::Shared);
        if state.shared.as_ref() != shared {
            state.shared = shared.cloned();
        }
        if state.shape.files != asked.files {
            state.shape.files = asked.files;
            state.ready.clear();
        }
        if !state.shape.serves(asked) {
            return None;
        }
        let mut taken = state.ready.pop_front();
        // One that has died meanwhile is none.
        while taken.as_mut().is_some_and(|ready| ready.leash().has_ended()) {
            taken = state.ready.pop_front();
        }
        if taken.is_none() {
            state.missed = now;
            state.wanted = (state.wanted + 1).min(self.most);
        }
        drop(state);
        self.changed.notify_one();
        taken
    }

    /// How many stand ready.
    pub fn ready(&self) -> usize {
        self.state().ready.len()
    }

    /// Ends what stands ready, and makes nothing more.
    pub fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        let ready = std::mem::take(&mut state.ready);
        drop(state);
        drop(ready);
        self.changed.notify_one();
    }

    /// Keeps as many sessions ready as demand asks for, until the pool is closed or its zygote gone.
    pub async fn keep(self: Arc<Self>, station: Weak<Station>, provisions: Arc<Provisions>) {
        while let Some(shape) = self.next().await {
            let Some(station) = station.upgrade() else { return };
            let made = timeout(PATIENCE, self.make(&station, &provisions, &shape)).await;
            match made {
                Ok(Some(ready)) => self.put(ready, &shape),
                _ => tokio::time::sleep(AFTER_FAILURE).await,
            }
        }
    }

    /// Waits until a session is missing and the one that was taken last has had a moment for itself.
    async fn next(&self) -> Option<Shape> {
        loop {
            let (missing, quiet_at) = {
                let mut state = self.state();
                if state.closed {
                    return None;
                }
                if state.wanted > 1 && state.missed.elapsed() > DECAY {
                    state.wanted -= 1;
                    state.missed = Instant::now();
                    let wanted = state.wanted;
                    state.ready.truncate(wanted);
                }
                let missing = (state.ready.len() < state.wanted.min(self.most)).then(|| state.shape.clone());
                (missing, state.taken + REFILL_PAUSE)
            };
            match missing {
                Some(shape) if Instant::now() >= quiet_at => return Some(shape),
                Some(_) => tokio::time::sleep_until(quiet_at).await,
                // What fails shows to whoever has to make a session of its own.
                None => drop(timeout(DECAY, self.changed.notified()).await),
            }
        }
    }

    async fn make(
        &self,
        station: &Arc<Station>,
        provisions: &Arc<Provisions>,
        shape: &Shape,
    ) -> Option<Ready> {
        let started = station.start(provisions, &shape.limits, shape.files).await;
        let (channels, mut leash) = started
            .inspect_err(|error| tracing::debug!(%error, "no session for the pool"))
            .ok()?;
        leash.lower_priority();
        if shape.files == Files::Attached
            && let Some(owner) = self.owner
        {
            leash.map_owner(owner).await.ok()?;
        }
        let shared = self.state().shared.clone();
        if let Some(shared) = shared {
            // It may have been removed meanwhile, in favour of a newer one.
            let _ = leash.show(&[shared]).await;
        }
        let mut ready = Conversation::new(channels, leash, shape.limits.clone(), String::new());
        let warmed = ready.warm().await;
        warmed
            .inspect_err(|error| tracing::debug!(%error, "no session for the pool"))
            .ok()?;
        ready.leash().restore_priority();
        Some(ready)
    }

    fn put(&self, ready: Ready, shape: &Shape) {
        let mut state = self.state();
        if !state.closed && state.shape.serves(shape) {
            state.ready.push_back(ready);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool")
            .field("most", &self.most)
            .finish_non_exhaustive()
    }
}
