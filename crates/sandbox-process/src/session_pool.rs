//! The idle sessions of one zygote: confined, warmed, used once, made in the background on demand.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use sandbox::{Attachment, AttachmentAccess, Conversation};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};
use types::Limits;

use crate::resources::{REFILL_PAUSE, ResourcePool};
use crate::session::SessionProcesses;
use crate::zygote::{FileStorage, Zygote};

const TIMEOUT: Duration = Duration::from_secs(20);
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// After this time without a miss, the pool keeps one idle session less.
const DECAY: Duration = Duration::from_secs(60);

/// A started session that has no owner yet.
pub type IdleSession = Conversation<SessionProcesses>;

/// The properties of a session that cannot change after its start.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSpec {
    /// Only the limits that the kernel enforces on the processes cannot change.
    pub limits: Limits,
    pub storage: FileStorage,
}

pub struct SessionPool {
    max_idle: usize,
    /// User and group on disk of the files that sessions will see.
    owner: Option<(u32, u32)>,
    state: Mutex<PoolState>,
    changed: Notify,
}

struct PoolState {
    idle: VecDeque<IdleSession>,
    spec: SessionSpec,
    /// The shared tree of tools that the last session saw.
    shared: Option<Attachment>,
    wanted: usize,
    last_miss: Instant,
    last_take: Instant,
    closed: bool,
}

impl SessionSpec {
    /// Whether a session with this specification serves a request for `asked`.
    fn serves(&self, asked: &SessionSpec) -> bool {
        let kernel_limits = |limits: &Limits| {
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
        self.storage == asked.storage && kernel_limits(&self.limits) == kernel_limits(&asked.limits)
    }
}

impl SessionPool {
    /// A pool of at most `max_idle` sessions that will see files of `owner`.
    pub fn new(max_idle: u32, spec: SessionSpec, owner: Option<(u32, u32)>) -> Arc<Self> {
        let now = Instant::now();
        Arc::new(Self {
            max_idle: usize::try_from(max_idle).unwrap_or(usize::MAX),
            owner,
            state: Mutex::new(PoolState {
                idle: VecDeque::new(),
                spec,
                shared: None,
                wanted: 1,
                last_miss: now,
                last_take: now,
                closed: false,
            }),
            changed: Notify::new(),
        })
    }

    /// Takes an idle session with this specification, if there is one. The pool never makes sessions with unusual
    /// limits in advance. A new storage applies to all later sessions.
    pub fn take(&self, asked: &SessionSpec, files: &[Attachment]) -> Option<IdleSession> {
        let mut state = self.state();
        let now = Instant::now();
        state.last_take = now;
        let shared = files.iter().find(|file| file.access == AttachmentAccess::Shared);
        if state.shared.as_ref() != shared {
            state.shared = shared.cloned();
        }
        if state.spec.storage != asked.storage {
            state.spec.storage = asked.storage;
            state.idle.clear();
        }
        if !state.spec.serves(asked) {
            return None;
        }
        let mut taken = state.idle.pop_front();
        // Skip sessions that have died meanwhile.
        while taken
            .as_mut()
            .is_some_and(|session| session.processes().has_ended())
        {
            taken = state.idle.pop_front();
        }
        if taken.is_none() {
            state.last_miss = now;
            state.wanted = (state.wanted + 1).min(self.max_idle);
        }
        drop(state);
        self.changed.notify_one();
        taken
    }

    pub fn idle(&self) -> usize {
        self.state().idle.len()
    }

    pub fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        drop(idle);
        self.changed.notify_one();
    }

    /// Keeps as many idle sessions as demand requires, until the pool is closed or its zygote is gone.
    pub async fn keep_filled(self: Arc<Self>, zygote: Weak<Zygote>, resources: Arc<ResourcePool>) {
        while let Some(spec) = self.next().await {
            let Some(zygote) = zygote.upgrade() else { return };
            let made = timeout(TIMEOUT, self.make(&zygote, &resources, &spec)).await;
            match made {
                Ok(Some(session)) => self.put(session, &spec),
                _ => tokio::time::sleep(RETRY_PAUSE).await,
            }
        }
    }

    /// Waits until a session is missing, and until the last taken session has had a moment to start.
    async fn next(&self) -> Option<SessionSpec> {
        loop {
            let (missing, quiet_at) = {
                let mut state = self.state();
                if state.closed {
                    return None;
                }
                if state.wanted > 1 && state.last_miss.elapsed() > DECAY {
                    state.wanted -= 1;
                    state.last_miss = Instant::now();
                    let wanted = state.wanted;
                    state.idle.truncate(wanted);
                }
                let missing =
                    (state.idle.len() < state.wanted.min(self.max_idle)).then(|| state.spec.clone());
                (missing, state.last_take + REFILL_PAUSE)
            };
            match missing {
                Some(spec) if Instant::now() >= quiet_at => return Some(spec),
                Some(_) => tokio::time::sleep_until(quiet_at).await,
                None => drop(timeout(DECAY, self.changed.notified()).await),
            }
        }
    }

    async fn make(
        &self,
        zygote: &Arc<Zygote>,
        resources: &Arc<ResourcePool>,
        spec: &SessionSpec,
    ) -> Option<IdleSession> {
        // On failure, the next launch makes its own session and reports the failure.
        let started = zygote.start(resources, &spec.limits, spec.storage).await;
        let (channels, mut processes) = started
            .inspect_err(|error| tracing::debug!(%error, "no session for the pool"))
            .ok()?;
        processes.lower_priority();
        if spec.storage == FileStorage::Host
            && let Some(owner) = self.owner
        {
            processes.map_owner(owner).await.ok()?;
        }
        let shared = self.state().shared.clone();
        if let Some(shared) = shared {
            // A newer tree may have replaced this one meanwhile.
            let _ = processes.attach_files(&[shared]).await;
        }
        let mut session = Conversation::new(channels, processes, spec.limits.clone(), String::new());
        let warmed = session.warm().await;
        warmed
            .inspect_err(|error| tracing::debug!(%error, "no session for the pool"))
            .ok()?;
        session.processes().restore_priority();
        Some(session)
    }

    fn put(&self, session: IdleSession, spec: &SessionSpec) {
        let mut state = self.state();
        if !state.closed && state.spec.serves(spec) {
            state.idle.push_back(session);
        }
    }

    fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for SessionPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionPool")
            .field("max_idle", &self.max_idle)
            .finish_non_exhaustive()
    }
}
