//! What this part is told: places, bounds, owner and the user's own directories.

use std::path::{Path, PathBuf};

pub(crate) const WORKSPACE: &str = "workspace";
pub(crate) const RESULTS: &str = "results";

const MIB: u64 = 1024 * 1024;

/// Enough for tables and pictures of weeks; a principal that fills it has forgotten to clean.
pub const DEFAULT_QUOTA: u64 = 2048 * MIB;

/// A checkout of a large program with its packages has this many files.
pub const DEFAULT_INODES: u64 = 200_000;

/// Where files of principals are and what binds them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceConfig {
    /// Directory of all principals' files.
    pub root: PathBuf,
    /// Directory of the trees that sessions share.
    pub trees: PathBuf,
    /// Bytes that one principal's files may take; 0 for no bound.
    pub quota: u64,
    /// Files and directories that one principal may have; 0 for no bound.
    pub inodes: u64,
    /// What must hold the bounds.
    pub enforce: Enforce,
    /// Whether sessions keep files here at all; trees and mounts are theirs in any case.
    pub keeping: Keeping,
    /// Who owns the files on disk when this process is root.
    pub owner: Owner,
    /// Directories of the user that every session sees.
    pub mounts: Vec<Mount>,
}

/// What must hold a principal's bounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Enforce {
    /// The kernel where it can, else measuring after each run.
    #[default]
    Auto,
    /// The kernel by project quotas, or nothing is served.
    Kernel,
    /// The kernel by an ext4 image for each principal, or nothing is served.
    Image,
}

/// Whether the files of sessions outlive them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keeping {
    /// They do.
    #[default]
    Kept,
    /// Each session has its own, which go with it.
    Own,
}

/// Who owns a principal's files on disk. An ordinary user owns them in any case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Owner {
    /// The data directory's owner, or the user `nobody` if that is root.
    #[default]
    DataDirectory,
    /// The user of this number, which is not 0.
    User(u32),
}

/// A directory of the user that every session sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// On the host: absolute, without symbolic links.
    pub source: PathBuf,
    /// In the session, such as `/data`.
    pub target: String,
    /// Whether sessions may write there.
    pub writable: bool,
}

impl WorkspaceConfig {
    /// User and group of every session's files on disk; `None` if they keep none, or if the data directory cannot be looked at, which
    /// the first session will tell.
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

    /// The data directory.
    pub(crate) fn data(&self) -> &Path {
        self.root.parent().unwrap_or(Path::new("/"))
    }

    /// The usual bounds, below this data directory.
    pub fn below(data: &Path) -> Self {
        Self {
            root: data.join("workspaces"),
            trees: data.join("trees"),
            quota: DEFAULT_QUOTA,
            inodes: DEFAULT_INODES,
            enforce: Enforce::default(),
            keeping: Keeping::default(),
            owner: Owner::default(),
            mounts: Vec::new(),
        }
    }
}
