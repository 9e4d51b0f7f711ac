//! The control group and the user of each session, from a pool that is filled in advance.
//!
//! Making a control group takes too long to do during a request. The pool refills a moment after a request, so that
//! the new session has the processors first. A session returns its resources when its last process has ended.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jail::cgroup::{Bounds, Group, Unthrottled, check_rate};
use jail::guards::RemovedGuards;
use jail::session::wire::Guard;
use jail::spec::ZYGOTE_USER;
use sandbox_host::free_users::FreeUsers;
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc;
use types::Limits;

use crate::mode::Mode;

const SPARE_GROUPS: usize = 8;
/// Time between a request and the refill. By then a new session has produced its first output.
pub const REFILL_PAUSE: Duration = Duration::from_millis(5);
/// Time between attempts to remove a group whose processes are still ending.
const REMOVAL_PAUSE: Duration = Duration::from_millis(5);
/// Attempts before the group stays for the next start of codeyard to remove.
const REMOVAL_ATTEMPTS: u32 = 400;

#[derive(Debug)]
pub struct ResourcePool {
    mode: Arc<Mode>,
    usual: Bounds,
    users: Option<FreeUsers>,
    refill: mpsc::Sender<Group>,
    ready: Mutex<mpsc::Receiver<Group>>,
    made: AtomicU64,
    closed: Mutex<bool>,
}

#[derive(Debug)]
pub struct SessionResources {
    pool: Arc<ResourcePool>,
    /// `None` without control groups.
    pub group: Option<Group>,
    user: Option<u32>,
}

#[derive(Debug, thiserror::Error)]
pub enum ResourceError {
    /// Every user of the lease has a session.
    #[error("{0} sessions are open, one for each leased user; close some")]
    Users(u32),
    #[error("make a control group: {0}")]
    Group(#[from] std::io::Error),
    /// The session has a disk rate that nothing enforces.
    #[error(transparent)]
    DiskRate(#[from] Unthrottled),
}

impl ResourcePool {
    /// An empty pool. Sessions usually have the limits `usual`.
    pub fn new(mode: Arc<Mode>, usual: &Limits, removed: RemovedGuards) -> Arc<Self> {
        let user_per_session = mode.identity.has_user_per_session() && !removed.contains(Guard::User);
        let users =
            user_per_session.then(|| FreeUsers::new((1..=mode.identity.sessions()).map(|n| ZYGOTE_USER + n)));
        let usual = bounds(&mode.effective_limits(usual));
        let (refill, ready) = mpsc::channel(SPARE_GROUPS);
        let made = AtomicU64::new(0);
        Arc::new(Self {
            mode,
            usual,
            users,
            refill,
            ready: Mutex::new(ready),
            made,
            closed: Mutex::new(false),
        })
    }

    pub fn fill(self: &Arc<Self>) {
        for _ in 0..SPARE_GROUPS {
            self.refill_after(Duration::ZERO);
        }
    }

    pub async fn take(self: &Arc<Self>, limits: &Limits) -> Result<SessionResources, ResourceError> {
        check_rate(limits.disk_rate, &self.mode.groups)?;
        let mut resources = SessionResources {
            pool: Arc::clone(self),
            group: None,
            user: self.take_user()?,
        };
        if self.mode.groups.is_ok() {
            let mut group = self.take_group().await?;
            let wanted = bounds(limits);
            if wanted != self.usual {
                group.bound(wanted)?;
            }
            resources.group = Some(group);
        }
        Ok(resources)
    }

    /// The resources of an unconfined guest: none.
    #[cfg(feature = "unconfined-guests")]
    pub fn none(self: &Arc<Self>) -> SessionResources {
        SessionResources {
            pool: Arc::clone(self),
            group: None,
            user: None,
        }
    }

    fn take_user(&self) -> Result<Option<u32>, ResourceError> {
        let Some(users) = &self.users else { return Ok(None) };
        users
            .take()
            .map(Some)
            .ok_or(ResourceError::Users(self.mode.identity.sessions()))
    }

    /// A spare group, or a new one.
    async fn take_group(self: &Arc<Self>) -> std::io::Result<Group> {
        let ready = self
            .ready
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .try_recv();
        match ready {
            Ok(group) => {
                self.refill_after(REFILL_PAUSE);
                Ok(group)
            }
            Err(_none) => {
                let pool = Arc::clone(self);
                let made = tokio::task::spawn_blocking(move || pool.make()).await;
                made.unwrap_or_else(|error| Err(std::io::Error::other(error)))
            }
        }
    }

    /// Makes one spare group. On failure, the next session makes its own group and reports the failure.
    fn refill_after(self: &Arc<Self>, pause: Duration) {
        let pool = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep(pause).await;
            let refill = pool.refill.clone();
            let made = tokio::task::spawn_blocking(move || pool.make()).await;
            if let Ok(Ok(group)) = made
                && let Err(unwanted) = refill.try_send(group)
            {
                unwanted.into_inner().remove();
            }
        });
    }

    /// Whether codeyard is ending. Failures of sessions are then a result of the end.
    pub fn is_closed(&self) -> bool {
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes all groups, including those of ending sessions, and makes no more.
    pub fn close(&self) {
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner) = true;
        if let Ok(groups) = &self.mode.groups {
            groups.clear();
        }
    }

    fn make(&self) -> std::io::Result<Group> {
        // Locked while the group is made, so that `close` misses no group.
        let closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        if *closed {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
        let groups = self
            .mode
            .groups
            .as_ref()
            .map_err(|missing| std::io::Error::other(missing.to_string()))?;
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        groups.create(&format!("s{number}"), self.usual)
    }

    fn give_back(&self, user: Option<u32>) {
        if let (Some(users), Some(user)) = (&self.users, user) {
            users.give_back(user);
        }
    }
}

impl SessionResources {
    /// The user inside the zygote's namespace. If sessions have no users of their own, this is the zygote's user.
    pub fn user(&self) -> u32 {
        self.user.unwrap_or(ZYGOTE_USER)
    }

    /// Waits for the end of the session's first process, which ends all others, then returns the resources.
    pub async fn give_back_after(self, process: AsyncFd<OwnedFd>) {
        // If watching fails, the process is gone.
        let _ = process.readable().await;
        drop(process);
        self.give_back().await;
    }

    /// Returns the resources. All processes of the session must be gone.
    pub async fn give_back(self) {
        self.pool.give_back(self.user);
        let Some(group) = self.group else { return };
        for _ in 0..REMOVAL_ATTEMPTS {
            if group.remove() {
                return;
            }
            tokio::time::sleep(REMOVAL_PAUSE).await;
        }
        tracing::warn!("a control group could not be removed; the next start removes it");
    }
}

fn bounds(limits: &Limits) -> Bounds {
    Bounds {
        memory: limits.memory,
        processes: limits.processes,
        cpu_rate: limits.cpu_rate,
        disk_rate: limits.disk_rate,
    }
}
