//! Host files in sessions: an implementation of `Files` selects them, the driver attaches them.

use std::fmt;

use sandbox::{Attachment, BoxFuture, LaunchError};
use types::{Principal, SessionName};

/// Directories of a session at its launch.
#[derive(Default)]
pub struct SessionDirectories {
    /// Directories to attach at launch.
    pub attachments: Vec<Attachment>,
    /// Keeps the directories while the session may see them.
    pub lease: Option<Box<dyn Send + Sync>>,
    /// Message for programs about the directories, in the session's next result.
    pub notice: Option<String>,
}

/// Returns the bytes that a session holds on a device in unnamed files.
pub type Unlinked<'a> = &'a mut (dyn FnMut(u64) -> u64 + Send);

/// Space that a principal may still use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowance {
    /// Unlimited here: no quota, or a quota that the kernel enforces.
    Unbound,
    /// Bytes left.
    Left(u64),
    /// The quota is exceeded: runs can only delete files.
    Over {
        /// Bytes in use.
        used: u64,
        /// Limit in bytes.
        quota: u64,
        /// Files and directories in use.
        files: u64,
        /// Limit on files and directories.
        most_files: u64,
    },
}

impl Allowance {
    /// Limit in bytes on the size of a file; `None` if unlimited.
    pub(crate) fn most(self) -> Option<u64> {
        match self {
            Allowance::Unbound => None,
            Allowance::Left(bytes) => Some(bytes),
            Allowance::Over { .. } => Some(0),
        }
    }

    /// Whether bytes or files have decreased.
    pub(crate) fn has_shrunk_from(self, before: Allowance) -> bool {
        match (before, self) {
            (
                Allowance::Over { used, files, .. },
                Allowance::Over {
                    used: used_now,
                    files: files_now,
                    ..
                },
            ) => used_now < used || files_now < files,
            _ => false,
        }
    }
}

impl fmt::Display for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allowance::Unbound => Ok(()),
            Allowance::Left(bytes) => write!(
                f,
                "the quota of /workspace, /results and /scratch had {:.1} MiB left when the run began, and no file may grow \
                 beyond that; delete some",
                mebibytes(*bytes)
            ),
            Allowance::Over {
                used,
                quota,
                files,
                most_files,
            } => write!(
                f,
                "/workspace, /results and /scratch hold {:.1} MiB in {files} files and directories; the quota is {:.1} MiB and \
                 {most_files}: until they hold less, runs of this session can delete files and not write any",
                mebibytes(*used),
                mebibytes(*quota),
            ),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a size for a person")]
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// The tree of tools and skills.
pub struct SharedTree {
    /// Source and target.
    pub attachment: Attachment,
    /// Keeps the tree while a session may see it.
    pub lease: Box<dyn Send + Sync>,
}

/// Selects the directories of sessions.
pub trait Files: Send + Sync {
    /// The directories of a session before its launch.
    fn of<'a>(
        &'a self,
        principal: &'a Principal,
        session: &'a SessionName,
    ) -> BoxFuture<'a, Result<SessionDirectories, LaunchError>>;

    /// Detects changes since the previous run, so that check and program use the current state.
    fn look(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// The tree of tools and skills for this program. The driver replaces an older tree of the session.
    fn shared<'a>(&'a self, principal: &'a Principal, code: &'a str) -> BoxFuture<'a, Option<SharedTree>>;

    /// The principal's remaining space, unless the kernel enforces the quota; measured before and after a run.
    /// `unlinked` returns the bytes of the session's unnamed files on a device. Call `unlinked` only after writes.
    fn allowance<'a>(
        &'a self,
        _principal: &'a Principal,
        _unlinked: Unlinked<'a>,
    ) -> BoxFuture<'a, Allowance> {
        Box::pin(std::future::ready(Allowance::Unbound))
    }

    /// Called after a session has ended and its lease is dropped. Another session may already have the name.
    fn ended<'a>(&'a self, _principal: &'a Principal, _session: &'a SessionName) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Resolves when a principal's files exceed their quota during a run, unless the kernel enforces the quota.
    fn outgrown<'a>(&'a self, principal: &'a Principal) -> BoxFuture<'a, ()>;
}

/// No host directories: each session has its own files.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn of<'a>(
        &'a self,
        _principal: &'a Principal,
        _session: &'a SessionName,
    ) -> BoxFuture<'a, Result<SessionDirectories, LaunchError>> {
        Box::pin(std::future::ready(Ok(SessionDirectories::default())))
    }

    fn shared<'a>(&'a self, _principal: &'a Principal, _code: &'a str) -> BoxFuture<'a, Option<SharedTree>> {
        Box::pin(std::future::ready(None))
    }

    fn outgrown<'a>(&'a self, _principal: &'a Principal) -> BoxFuture<'a, ()> {
        Box::pin(std::future::pending())
    }
}
