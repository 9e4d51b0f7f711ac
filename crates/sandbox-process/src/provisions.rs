//! What each session needs and what is made ahead of need: control groups and users.
//!
//! Made ahead because making it belongs on no request's path; given back when the session's last process is gone.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jail::cgroup::{Bounds, Group, Groups};
use jail::spec::ZYGOTE_USER;
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc;
use types::Limits;

use crate::mode::Mode;

/// Groups that stand ready.
const READY_GROUPS: usize = 4;
/// How long to wait between attempts to remove a group whose processes are still ending.
const REMOVAL_PAUSE: Duration = Duration::from_millis(5);
/// Attempts before a group is left to the next start.
const REMOVAL_ATTEMPTS: u32 = 400;

/// The store of what sessions need.
#[derive(Debug)]
pub struct Provisions {
    mode: Arc<Mode>,
    usual: Bounds,
    ready: tokio::sync::Mutex<Option<mpsc::Receiver<std::io::Result<Group>>>>,
    users: Option<Mutex<VecDeque<u32>>>,
    made: AtomicU64,
}

/// What one session has, to be given back.
#[derive(Debug)]
pub struct Provision {
    store: Arc<Provisions>,
    /// Its group, where there are groups.
    pub group: Option<Group>,
    /// Its user inside the zygote's namespace; the zygote's own where sessions have none of their own.
    pub user: u32,
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
}

impl Provisions {
    /// An empty store; groups with the usual limits are made from the first need on.
    pub fn new(mode: Arc<Mode>, usual: &Limits) -> Arc<Self> {
        let users = mode
            .identity
            .has_user_per_session()
            .then(|| Mutex::new((1..=mode.identity.sessions()).map(|n| ZYGOTE_USER + n).collect()));
        let usual = bounds(&mode.binding(usual));
        Arc::new(Self {
            mode,
            usual,
            ready: tokio::sync::Mutex::new(None),
            users,
            made: AtomicU64::new(0),
        })
    }

    /// Takes what a session with these limits needs.
    pub async fn take(self: &Arc<Self>, limits: &Limits) -> Result<Provision, ProvisionError> {
        let user = self.take_user()?;
        let mut provision = Provision {
            store: Arc::clone(self),
            group: None,
            user,
        };
        if self.mode.groups.is_ok() {
            let group = self.take_group().await?;
            let wanted = bounds(limits);
            if wanted != self.usual {
                group.bound(wanted)?;
            }
            provision.group = Some(group);
        }
        Ok(provision)
    }

    fn take_user(&self) -> Result<u32, ProvisionError> {
        let Some(users) = &self.users else {
            return Ok(ZYGOTE_USER);
        };
        let next = users.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        next.ok_or(ProvisionError::Users(self.mode.identity.sessions()))
    }

    async fn take_group(self: &Arc<Self>) -> std::io::Result<Group> {
        let mut ready = self.ready.lock().await;
        let receiver = ready.get_or_insert_with(|| self.begin());
        receiver
            .recv()
            .await
            .unwrap_or_else(|| Err(std::io::ErrorKind::BrokenPipe.into()))
    }

    /// Starts the thread of control that keeps `READY_GROUPS` groups ready.
    fn begin(self: &Arc<Self>) -> mpsc::Receiver<std::io::Result<Group>> {
        let (sender, receiver) = mpsc::channel(READY_GROUPS);
        let store = Arc::downgrade(self);
        tokio::task::spawn_blocking(move || {
            // Ends when the store is gone: the channel closes, or the reference does.
            while let Some(store) = store.upgrade() {
                let Ok(groups) = &store.mode.groups else { return };
                let made = store.make(groups);
                drop(store);
                if sender.blocking_send(made).is_err() {
                    return;
                }
            }
        });
        receiver
    }

    fn make(&self, groups: &Groups) -> std::io::Result<Group> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        groups.create(&format!("s{number}"), self.usual)
    }

    fn give_back(&self, user: u32) {
        if let Some(users) = &self.users {
            // At the end of the queue: a user comes back as late as possible.
            users
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push_back(user);
        }
    }
}

impl Provision {
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
    }
}
