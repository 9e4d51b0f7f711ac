//! Specification of a zygote, sent from the host to the launcher.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::guards::RemovedGuards;
use crate::seccomp::KernelMemory;

/// User and group of the zygote inside its user namespace; a session with its own user has a higher number.
pub const ZYGOTE_USER: u32 = 1000;

/// Everything the launcher needs to make a zygote.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ZygoteSpec {
    /// Host directories that sessions may read, with all mounts below them, and single files.
    pub trees: Vec<Tree>,
    /// Files written to the template.
    pub files: Vec<TextFile>,
    /// Small host files copied to the template; missing files are skipped.
    pub copies: Vec<Tree>,
    /// Paths inside for the folders of the settings, in the order of [`crate::attach::MountPoint::Mount`]; at most
    /// `attach::MOST_MOUNTS`.
    pub mounts: Vec<PathBuf>,
    /// Symbolic links on the template: name and target.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// Program to execute; a path inside.
    pub program: PathBuf,
    /// Without the program's name.
    pub arguments: Vec<String>,
    /// The complete environment.
    pub environment: Vec<(String, String)>,
    /// Users of the zygote and its sessions on the host.
    pub identity: Identity,
    /// What sessions look like from inside.
    pub appearance: Appearance,
    /// Whether a cgroup counts kernel memory.
    pub memory: Counting,
    /// Guards that tests remove.
    pub removed: RemovedGuards,
    /// What the launcher removes if the host is killed.
    pub cleanup: CleanupPaths,
}

/// What a killed host leaves behind outside the zygote's namespaces.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CleanupPaths {
    /// The lock file of the lease.
    pub lease: PathBuf,
    /// Parent directories of the sessions' control groups.
    pub groups: Vec<PathBuf>,
}

/// A host path and its absolute path inside.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Tree {
    /// On the host.
    pub source: PathBuf,
    /// Inside.
    pub target: PathBuf,
}

/// A file of the template.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TextFile {
    /// Absolute, inside.
    pub path: PathBuf,
    /// UTF-8 content.
    pub text: String,
}

/// Users of the host that the user namespace maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Identity {
    /// As root: a range of users that own no files. The zygote is the first, each session has another.
    Range {
        /// First user of the host.
        first: u32,
        /// Number of users.
        count: u32,
    },
    /// As an ordinary user with a subordinate range: the zygote is the user itself, each session has a user of the
    /// range.
    Subordinate {
        /// The ordinary user.
        user: u32,
        /// Group of the ordinary user.
        group: u32,
        /// First user of the range.
        first_user: u32,
        /// First group of the range.
        first_group: u32,
        /// Number of users, and of groups.
        count: u32,
    },
    /// As an ordinary user without a range: zygote and sessions are that user.
    Single {
        /// The ordinary user.
        user: u32,
        /// Group of the ordinary user.
        group: u32,
    },
}

/// What sessions look like from inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Appearance {
    /// Codeyard's own directories: `/workspace`, `/results`, `/scratch`, `/home` and `/tmp`.
    #[default]
    Codeyard,
    /// A container with a read-only root, `/workspace`, `/tmp` and `/dev/shm`. The host's directories for `/workspace`,
    /// `/results` and `/scratch` are not shown.
    Container {
        /// User that a session sees, never 0.
        user: u32,
        /// Group that a session sees, never 0.
        group: u32,
        /// Bytes of `/workspace`.
        workspace: u64,
        /// Bytes of `/tmp`, and the same number of `/dev/shm`.
        tmp: u64,
    },
}

/// Serialised form of [`KernelMemory`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the variants of `KernelMemory`")]
pub enum Counting {
    Counted,
    Uncounted,
}

impl From<Counting> for KernelMemory {
    fn from(counting: Counting) -> Self {
        match counting {
            Counting::Counted => KernelMemory::Counted,
            Counting::Uncounted => KernelMemory::Uncounted,
        }
    }
}

impl Identity {
    /// Whether each session has its own kernel user.
    pub fn has_user_per_session(self) -> bool {
        !matches!(self, Identity::Single { .. })
    }

    /// Number of simultaneous sessions that can each have their own user.
    pub fn sessions(self) -> u32 {
        match self {
            Identity::Range { count, .. } | Identity::Subordinate { count, .. } => count.saturating_sub(1),
            Identity::Single { .. } => u32::MAX,
        }
    }
}
