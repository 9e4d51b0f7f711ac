//! What sessions see of the host's files; decided elsewhere, attached by the driver.

use std::fmt;

use sandbox::{Attachment, BoxFuture, LaunchError};
use types::{Principal, SessionName};

/// What a session sees of the host when it is launched.
#[derive(Default)]
pub struct Given {
    /// The directories.
    pub attachments: Vec<Attachment>,
    /// Keeps them there; held as long as the session may see them.
    pub lease: Option<Box<dyn Send + Sync>>,
    /// What programs should know of the directories; the session's next result says it.
    pub notice: Option<String>,
}

/// Says how many bytes of a device a session holds in files without a name.
pub type Unlinked<'a> = &'a mut (dyn FnMut(u64) -> u64 + Send);

/// What a principal may still write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowance {
    /// Unlimited here: without a quota, or with one that the kernel enforces.
    Unbound,
    /// So many bytes.
    Left(u64),
    /// The quota is exceeded: runs can only delete until the files take less.
    Over {
        /// Bytes that are there.
        used: u64,
        /// Bytes that may be there.
        quota: u64,
        /// Files and directories that are there.
        files: u64,
        /// Files and directories that may be there.
        most_files: u64,
    },
}

impl Allowance {
    /// Bytes that a file may grow to, where that is bound.
    pub(crate) fn most(self) -> Option<u64> {
        match self {
            Allowance::Unbound => None,
            Allowance::Left(bytes) => Some(bytes),
            Allowance::Over { .. } => Some(0),
        }
    }

    /// Whether there is less than before.
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
                "the quota of /workspace and /results had {:.1} MiB left when the run began, and no file may grow \
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
                "/workspace and /results hold {:.1} MiB in {files} files and directories; the quota is {:.1} MiB and \
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
    /// Where it is and where sessions see it.
    pub attachment: Attachment,
    /// Keeps it there; held as long as a session may see it.
    pub lease: Box<dyn Send + Sync>,
}

/// Says which directories sessions see.
pub trait Files: Send + Sync {
    /// Those of a session that is about to be launched.
    fn of<'a>(
        &'a self,
        principal: &'a Principal,
        session: &'a SessionName,
    ) -> BoxFuture<'a, Result<Given, LaunchError>>;

    /// Looks what has changed since the run before, so that a program is held against what there is, and sees it.
    fn look(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// The tree of tools and skills as this program is to see it; a session that sees an older one is shown this one.
    fn shared<'a>(&'a self, principal: &'a Principal, code: &'a str) -> BoxFuture<'a, Option<SharedTree>>;

    /// What the principal may still write where no kernel holds a quota, looked at before and after a run. `unlinked` says
    /// how many bytes of a device the session holds in files without a name; it is asked only if something was written.
    fn allowance<'a>(
        &'a self,
        _principal: &'a Principal,
        _unlinked: Unlinked<'a>,
    ) -> BoxFuture<'a, Allowance> {
        Box::pin(std::future::ready(Allowance::Unbound))
    }

    /// Resolves when the files that a principal keeps outgrow their quota during a run, where no kernel sees to that.
    fn outgrown<'a>(&'a self, principal: &'a Principal) -> BoxFuture<'a, ()>;
}

/// Nothing of the host: each session has its files to itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn of<'a>(
        &'a self,
        _principal: &'a Principal,
        _session: &'a SessionName,
    ) -> BoxFuture<'a, Result<Given, LaunchError>> {
        Box::pin(std::future::ready(Ok(Given::default())))
    }

    fn shared<'a>(&'a self, _principal: &'a Principal, _code: &'a str) -> BoxFuture<'a, Option<SharedTree>> {
        Box::pin(std::future::ready(None))
    }

    fn outgrown<'a>(&'a self, _principal: &'a Principal) -> BoxFuture<'a, ()> {
        Box::pin(std::future::pending())
    }
}
