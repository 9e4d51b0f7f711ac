//! The host files that sessions see: their principal's, the user's mounts, and the files that describe tools.

mod tools;
mod watch;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sandbox::{Attachment, AttachmentAccess, BoxFuture, LaunchError, SESSION, SHARED};
use session::{Allowance, SessionDirectories, SharedTree, Unlinked};
use types::{Principal, ServerId, SessionName};
use workspace::{Keeping, Mount, PrincipalLease, WorkspaceError, Workspaces};

pub(crate) use tools::ToolFiles;
use watch::Watch;

use crate::served::Served;

/// Sessions between two removals of what ended sessions left.
const TIDY_EVERY: u64 = 64;

/// Decides which host files a session sees, at launch and later.
pub(crate) struct SessionFiles {
    workspaces: Workspaces,
    tools: ToolFiles,
    watch: Watch,
    /// The virtual server whose sessions these are.
    server: Option<ServerId>,
    /// Leases that protect principals' files from cleaning by another process. A lease lasts as long as this process,
    /// because the principal's next session is likely.
    leases: Mutex<HashMap<Principal, PrincipalLease>>,
    opened: AtomicU64,
    /// Whether sessions that end leave their scratch files to the next ones of their names.
    keeps_scratch: AtomicBool,
    /// Principals whose sessions another process takes over.
    moving: Mutex<HashSet<Principal>>,
}

impl SessionFiles {
    /// Opens no file.
    pub(crate) fn new(workspaces: Workspaces, tools: ToolFiles, server: Option<ServerId>) -> SessionFiles {
        SessionFiles {
            watch: Watch::new(workspaces.clone()),
            workspaces,
            tools,
            server,
            leases: Mutex::default(),
            opened: AtomicU64::new(0),
            keeps_scratch: AtomicBool::new(false),
            moving: Mutex::default(),
        }
    }

    /// Publishes a principal's tool files whenever the tools change. Never ends.
    pub(crate) async fn follow_tools(&self, principal: &Principal) {
        self.tools.follow(principal, &self.workspaces).await;
    }

    /// Publishes the files of a principal's tools, with those of all servers if the text names them.
    pub(crate) async fn prepare_tools(&self, principal: &Principal, text: &str) {
        self.tools.prepare(principal, text, &self.workspaces).await;
    }

    async fn attach_kept_files(
        &self,
        principal: &Principal,
        session: &SessionName,
    ) -> Result<SessionDirectories, LaunchError> {
        if self.workspaces.keeping() == Keeping::Own {
            return Ok(SessionDirectories::default());
        }
        let (workspaces, whose, name) = (self.workspaces.clone(), principal.clone(), self.kept(session));
        let opened = tokio::task::spawn_blocking(move || workspaces.open(&whose, &name)).await;
        let files = opened
            .map_err(|error| LaunchError::Failed(error.to_string()))?
            .map_err(refused)?;
        self.leases
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(principal.clone(), files.lease.principal());
        self.tidy_now_and_then(principal);
        let own = |source, target: &str| Attachment {
            source,
            target: target.to_owned(),
            access: AttachmentAccess::ReadWrite,
        };
        Ok(SessionDirectories {
            attachments: vec![own(files.workspace, "/workspace"), own(files.session, SESSION)],
            lease: Some(Box::new(files.lease)),
            notice: files.foreign.map(|foreign| foreign.to_string()),
        })
    }

    /// Host paths of the directories that outlive a session, by their names in programs.
    pub(crate) fn directories(
        &self,
        principal: &Principal,
        session: &SessionName,
    ) -> Vec<(&'static str, PathBuf)> {
        if self.workspaces.keeping() == Keeping::Own {
            return Vec::new();
        }
        vec![
            ("/workspace", self.workspaces.path(principal)),
            (
                "/results",
                self.workspaces.results_path(principal, &self.kept(session)),
            ),
        ]
    }

    /// The name under which the files of a session are kept.
    pub(crate) fn kept(&self, session: &SessionName) -> SessionName {
        Served::kept_name(self.server.as_ref(), session)
    }

    /// From now on, sessions end because their process does or their server changes: they are opened again. Scratch
    /// files that nobody takes up are removed after a while.
    pub(crate) fn keep_scratch(&self) {
        self.keeps_scratch.store(true, Ordering::Relaxed);
    }

    /// From now on, the principal's sessions end because another process runs them: scratch files stay.
    pub(crate) fn hand_over(&self, principal: &Principal) {
        self.moving().insert(principal.clone());
    }

    fn moving(&self) -> MutexGuard<'_, HashSet<Principal>> {
        self.moving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The principal's sessions have ended.
    pub(crate) fn handed_over(&self, principal: &Principal) {
        self.moving().remove(principal);
    }

    /// Releases a principal's lease, measurement and tool tree. The files remain.
    pub(crate) async fn forget(&self, principal: &Principal) {
        self.tools.forget(principal, &self.workspaces).await;
        self.watch.forget(principal);
        let lease = {
            let mut leases = self.leases.lock().unwrap_or_else(PoisonError::into_inner);
            leases.remove(principal)
        };
        drop(lease);
        let (workspaces, whose) = (self.workspaces.clone(), principal.clone());
        blocking(move || {
            tidy(&workspaces, &whose);
            if let Err(error) = workspaces.remove_empty(&whose) {
                tracing::warn!(%error, "empty directories of a principal stay");
            }
        })
        .await;
    }

    /// Runs after the last session: removes traces of sessions that wrote nothing and unmounts images.
    pub(crate) async fn close(&self) {
        let leases = std::mem::take(&mut *self.leases.lock().unwrap_or_else(PoisonError::into_inner));
        let principals: Vec<Principal> = leases.into_keys().collect();
        let workspaces = self.workspaces.clone();
        blocking(move || {
            for principal in &principals {
                tidy(&workspaces, principal);
            }
            if let Err(error) = workspaces.unmount_unused() {
                tracing::warn!(%error, "images of workspaces stay mounted");
            }
        })
        .await;
    }

    /// Every `TIDY_EVERY` sessions, removes traces of sessions that wrote nothing, in the background.
    fn tidy_now_and_then(&self, principal: &Principal) {
        if !self
            .opened
            .fetch_add(1, Ordering::Relaxed)
            .is_multiple_of(TIDY_EVERY)
        {
            return;
        }
        let (workspaces, whose) = (self.workspaces.clone(), principal.clone());
        tokio::task::spawn_blocking(move || tidy(&workspaces, &whose));
    }
}

fn tidy(workspaces: &Workspaces, principal: &Principal) {
    if let Err(error) = workspaces.tidy(principal) {
        tracing::warn!(%error, "files of ended sessions stay");
    }
}

impl session::Files for SessionFiles {
    fn of<'a>(
        &'a self,
        principal: &'a Principal,
        session: &'a SessionName,
    ) -> BoxFuture<'a, Result<SessionDirectories, LaunchError>> {
        Box::pin(async move {
            let mut given = self.attach_kept_files(principal, session).await?;
            given
                .attachments
                .extend(self.workspaces.mounts().iter().map(attachment));
            Ok(given)
        })
    }

    fn look(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.tools.look())
    }

    fn shared<'a>(&'a self, principal: &'a Principal, code: &'a str) -> BoxFuture<'a, Option<SharedTree>> {
        Box::pin(async move {
            self.tools.prepare(principal, code, &self.workspaces).await;
            self.workspaces.shared(principal).map(|tree| SharedTree {
                attachment: Attachment {
                    source: tree.path.clone(),
                    target: SHARED.to_owned(),
                    access: AttachmentAccess::Shared,
                },
                lease: Box::new(tree),
            })
        })
    }

    fn allowance<'a>(&'a self, principal: &'a Principal, unlinked: Unlinked<'a>) -> BoxFuture<'a, Allowance> {
        Box::pin(self.watch.allowance(principal, unlinked))
    }

    fn ended<'a>(&'a self, principal: &'a Principal, session: &'a SessionName) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let stays = self.keeps_scratch.load(Ordering::Relaxed) || self.moving().contains(principal);
            if self.workspaces.keeping() == Keeping::Own || stays {
                return;
            }
            let (workspaces, whose, name) = (self.workspaces.clone(), principal.clone(), self.kept(session));
            blocking(move || {
                if let Err(error) = workspaces.end_session(&whose, &name) {
                    tracing::warn!(%error, "scratch files of an ended session stay for now");
                }
            })
            .await;
        })
    }

    fn outgrown<'a>(&'a self, principal: &'a Principal) -> BoxFuture<'a, ()> {
        Box::pin(self.watch.outgrown(principal))
    }
}

/// One of the user's folders as sessions see it.
pub(crate) fn attachment(mount: &Mount) -> Attachment {
    Attachment {
        source: mount.source.clone(),
        target: mount.target.clone(),
        access: if mount.writable {
            AttachmentAccess::ReadWrite
        } else {
            AttachmentAccess::ReadOnly
        },
    }
}

fn refused(error: WorkspaceError) -> LaunchError {
    match error {
        WorkspaceError::NoQuota { .. } | WorkspaceError::NoImage { .. } | WorkspaceError::Owner { .. } => {
            LaunchError::Refused(error.to_string())
        }
        error => LaunchError::Failed(error.to_string()),
    }
}

/// Runs file work on a blocking thread; `None` if the thread failed.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work)
        .await
        .inspect_err(|error| tracing::error!(%error, "file work failed"))
        .ok()
}
