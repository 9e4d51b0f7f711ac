//! Configuration: places, bounds, owner, and the user's own directories.

use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) const WORKSPACE: &str = "workspace";
/// Directory of all sessions' directories.
pub(crate) const SESSIONS: &str = "sessions";
pub(crate) const RESULTS: &str = "results";
pub(crate) const SCRATCH: &str = "scratch";
/// Entries of a principal's directory that hold files. Earlier versions kept results outside `sessions`.
pub(crate) const PARTS: [&str; 3] = [WORKSPACE, SESSIONS, RESULTS];

const MIB: u64 = 1024 * 1024;

/// Bytes of one principal's files: enough for weeks of tables and pictures.
pub const DEFAULT_QUOTA: u64 = 2048 * MIB;

/// Files and directories of one principal: enough for a checkout of a large program with its packages.
pub const DEFAULT_INODES: u64 = 200_000;

/// Default of [`WorkspaceConfig::scratch_time`].
pub const SCRATCH_TIME: Duration = Duration::from_secs(30 * 60);

/// Paths, bounds and owner of principals' files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceConfig {
    /// Directory of all principals' files.
    pub root: PathBuf,
    /// Trees that sessions share.
    pub trees: PathBuf,
    /// Bytes of one principal's files; 0 for no bound.
    pub quota: u64,
    /// Files and directories of one principal; 0 for no bound.
    pub inodes: u64,
    /// The mechanism that must enforce the bounds.
    pub enforce: Enforce,
    /// Whether sessions keep files here; trees and mounts exist in any case.
    pub keeping: Keeping,
    /// Owner of the files on disk when this process is root.
    pub owner: Owner,
    /// Time after its last use at which an unused `/scratch` is removed, if the end of its session did not remove it.
    pub scratch_time: Duration,
    /// User directories that every session sees.
    pub mounts: Vec<Mount>,
}

/// The mechanism that must enforce a principal's bounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Enforce {
    /// The kernel where possible, else measurements after each run.
    #[default]
    Auto,
    /// The kernel with project quotas, or refuse to serve.
    Kernel,
    /// The kernel with one ext4 image for each principal, or refuse to serve.
    Image,
}

/// Whether the files of sessions outlive them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keeping {
    /// The files are kept.
    #[default]
    Kept,
    /// Each session has its own files, removed at its end.
    Own,
}

/// Owner of a principal's files on disk. An ordinary user always owns them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Owner {
    /// The data directory's owner, or `nobody` if that owner is root.
    #[default]
    DataDirectory,
    /// A user id other than 0.
    User(u32),
}

/// A user directory that every session sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Host path: absolute, without symbolic links.
    pub source: PathBuf,
    /// Path in the session, such as `/data`.
    pub target: String,
    /// Whether sessions may write.
    pub writable: bool,
}

impl WorkspaceConfig {
    /// User and group of every session's files on disk. `None` if sessions keep no files or the data directory is
    /// unreadable. The first session reports an unreadable data directory.
    pub fn owner_on_disk(&self) -> Option<(u32, u32)> {
        if self.keeping == Keeping::Own {
            return None;
        }
        crate::directory::Ids::of(self.owner, self.data())
            .ok()
            .map(|ids| (ids.uid, ids.gid))
    }

    /// Directories whose disks sessions read and write.
    pub fn on_disk(&self) -> Vec<PathBuf> {
        let mounts = self.mounts.iter().map(|mount| mount.source.clone());
        std::iter::once(self.root.clone()).chain(mounts).collect()
    }

    pub(crate) fn data(&self) -> &Path {
        self.root.parent().unwrap_or(Path::new("/"))
    }

    /// The default bounds, below the data directory `data`.
    pub fn below(data: &Path) -> Self {
        Self {
            root: data.join("workspaces"),
            trees: data.join("trees"),
            quota: DEFAULT_QUOTA,
            inodes: DEFAULT_INODES,
            enforce: Enforce::default(),
            keeping: Keeping::default(),
            owner: Owner::default(),
            scratch_time: SCRATCH_TIME,
            mounts: Vec::new(),
        }
    }
}
