//! What each session needs and what is made ahead of need: control groups and users.
//!
//! Made ahead because making it belongs on no request's path, and a moment after the last request so that it does not
//! compete with the session that has just been started; given back when the session's last process is gone.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jail::cgroup::{Bounds, Group, Unthrottled, check_rate};
use jail::guards::Removed;
use jail::session::wire::Guard;
use jail::spec::ZYGOTE_USER;
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc;
use types::Limits;

use crate::mode::Mode;

/// Groups that stand ready.
const READY_GROUPS: usize = 8;
/// How long after a request its replacement is made: a fresh session has its first output by then.
pub const REFILL_PAUSE: Duration = Duration::from_millis(5);
/// How long to wait between attempts to remove a group whose processes are still ending.
const REMOVAL_PAUSE: Duration = Duration::from_millis(5);
/// Attempts before a group is left to the next start.
const REMOVAL_ATTEMPTS: u32 = 400;

/// The store of what sessions need.
#[derive(Debug)]
pub struct Provisions {
    mode: Arc<Mode>,
    usual: Bounds,
    users: Option<Mutex<VecDeque<u32>>>,
    refill: mpsc::Sender<Group>,
    ready: Mutex<mpsc::Receiver<Group>>,
    made: AtomicU64,
    closed: Mutex<bool>,
}

/// What one session has, to be given back.
#[derive(Debug)]
pub struct Provision {
    store: Arc<Provisions>,
    /// Its group, where there are groups.
    pub group: Option<Group>,
    user: Option<u32>,
}

/// Why there is nothing for another session.
#[derive(Debug, thiserror::Error)]
pub enum ProvisionError {
    /// Every user of the lease has a session.
    #[error("{0} sessions are open, as many as there are users leased for them; close some")]
    Users(u32),
    /// A control group could not be made.
    #[error("make a control group: {0}")]
    Group(#[from] std::io::Error),
    /// The session is to have a disk rate, and nothing binds one.
    #[error(transparent)]
    DiskRate(#[from] Unthrottled),
}

impl Provisions {
    /// A store that stocks itself at the first `stock`.
    pub fn new(mode: Arc<Mode>, usual: &Limits, removed: Removed) -> Arc<Self> {
        let own_users = mode.identity.has_user_per_session() && !removed.contains(Guard::User);
        let users =
            own_users.then(|| Mutex::new((1..=mode.identity.sessions()).map(|n| ZYGOTE_USER + n).collect()));
        let usual = bounds(&mode.binding(usual));
        let (refill, ready) = mpsc::channel(READY_GROUPS);
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

    /// Makes what is to stand ready, in the background.
    pub fn stock(self: &Arc<Self>) {
        for _ in 0..READY_GROUPS {
            self.refill_after(Duration::ZERO);
        }
    }

    /// Takes what a session with these limits needs.
    pub async fn take(self: &Arc<Self>, limits: &Limits) -> Result<Provision, ProvisionError> {
        check_rate(limits.disk_rate, &self.mode.groups)?;
        let mut provision = Provision {
            store: Arc::clone(self),
            group: None,
            user: self.take_user()?,
        };
        if self.mode.groups.is_ok() {
            let mut group = self.take_group().await?;
            let wanted = bounds(limits);
            if wanted != self.usual {
                group.bound(wanted)?;
            }
            provision.group = Some(group);
        }
        Ok(provision)
    }

    /// What an unconfined guest has.
    pub fn nothing(self: &Arc<Self>) -> Provision {
        Provision {
            store: Arc::clone(self),
            group: None,
            user: None,
        }
    }

    fn take_user(&self) -> Result<Option<u32>, ProvisionError> {
        let Some(users) = &self.users else { return Ok(None) };
        let next = users.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        next.map(Some)
            .ok_or(ProvisionError::Users(self.mode.identity.sessions()))
    }

    /// A group that stands ready, or else one made now.
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
                let store = Arc::clone(self);
                let made = tokio::task::spawn_blocking(move || store.make()).await;
                made.unwrap_or_else(|error| Err(std::io::Error::other(error)))
            }
        }
    }

    /// Makes one group and puts it where the next taker finds it. A failure shows when that one has to make its own.
    fn refill_after(self: &Arc<Self>, pause: Duration) {
        let store = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep(pause).await;
            let refill = store.refill.clone();
            let made = tokio::task::spawn_blocking(move || store.make()).await;
            if let Ok(Ok(group)) = made
                && let Err(unwanted) = refill.try_send(group)
            {
                unwanted.into_inner().remove();
            }
        });
    }

    /// Whether codeyard ends: what fails in a session now says nothing of the session.
    pub fn is_closed(&self) -> bool {
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes all groups, also those of sessions that are just ending, and makes none any more.
    pub fn close(&self) {
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner) = true;
        if let Ok(groups) = &self.mode.groups {
            groups.clear();
        }
    }

    fn make(&self) -> std::io::Result<Group> {
        // Held while the group is made, so that none is made after the last one was removed.
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
            // At the end of the queue: a user comes back as late as possible.
            users
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push_back(user);
        }
    }
}

impl Provision {
    /// Its user inside the zygote's namespace; the zygote's own where sessions have none of their own.
    pub fn user(&self) -> u32 {
        self.user.unwrap_or(ZYGOTE_USER)
    }

    /// Waits for the end of the session's first process, and with it of all others, then gives everything back.
    pub async fn give_back_after(self, process: AsyncFd<OwnedFd>) {
        // A descriptor that cannot be watched any more belongs to no living process.
        let _ = process.readable().await;
        drop(process);
        self.give_back().await;
    }

    /// Gives everything back; no process may be left.
    pub async fn give_back(self) {
        self.store.give_back(self.user);
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

/// The limits that control groups bind.
fn bounds(limits: &Limits) -> Bounds {
    Bounds {
        memory: limits.memory,
        processes: limits.processes,
        cpu_rate: limits.cpu_rate,
        disk_rate: limits.disk_rate,
    }
}
