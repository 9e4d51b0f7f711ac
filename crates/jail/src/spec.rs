//! What a zygote is to be: the data that the host sends to the launcher.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::guards::RemovedGuards;
use crate::seccomp::KernelMemory;

/// User and group of the zygote inside its user namespace; a session with a user of its own has a higher one.
pub const ZYGOTE_USER: u32 = 1000;

/// Everything the launcher needs to make a zygote.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ZygoteSpec {
    /// Host directories that sessions may read, with all mounts below them.
    pub trees: Vec<Tree>,
    /// Files written onto the template.
    pub files: Vec<TextFile>,
    /// Small host files copied onto the template; a missing one is left out.
    pub copies: Vec<Tree>,
    /// Where the folders of the settings appear, in the order of their places; at most `attach::MOST_MOUNTS`.
    pub mounts: Vec<PathBuf>,
    /// Symbolic links on the template: name and what it points at.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// Program to execute, as seen inside.
    pub program: PathBuf,
    /// Its arguments, without its name.
    pub arguments: Vec<String>,
    /// Its whole environment.
    pub environment: Vec<(String, String)>,
    /// Who it and its sessions are outside.
    pub identity: Identity,
    /// What its sessions look like from inside.
    pub appearance: Appearance,
    /// Whether a cgroup counts kernel memory.
    pub memory: Counting,
    /// Guards that tests remove.
    pub removed: RemovedGuards,
    /// What the launcher removes if the host is killed.
    pub cleanup: CleanupPaths,
}

/// What a killed host leaves on the machine outside of the zygote's namespaces.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CleanupPaths {
    /// The file whose lock is the lease.
    pub lease: PathBuf,
    /// The directories that hold the control groups of sessions.
    pub groups: Vec<PathBuf>,
}

/// A host path and where it appears inside (absolute).
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
    /// Inside, absolute.
    pub path: PathBuf,
    /// Content.
    pub text: String,
}

/// Which users of the host the user namespace holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Identity {
    /// As root: a range of users that own nothing; the zygote is its first, each session has another.
    Range {
        /// First user of the host.
        first: u32,
        /// Number of users.
        count: u32,
    },
    /// As an ordinary user with a subordinate range: the zygote is that user, each session has one of the range.
    Subordinate {
        /// The ordinary user.
        user: u32,
        /// Its group.
        group: u32,
        /// First user of the range.
        first_user: u32,
        /// First group of the range.
        first_group: u32,
        /// Number of users, and of groups.
        count: u32,
    },
    /// As a bare ordinary user: everything is that user.
    Single {
        /// The ordinary user.
        user: u32,
        /// Its group.
        group: u32,
    },
}

/// What sessions look like from inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Appearance {
    /// Places of Codeyard's own: `/workspace`, `/results`, `/scratch`, `/home` and `/tmp`.
    #[default]
    Codeyard,
    /// A container with a read-only root, `/workspace`, `/tmp` and `/dev/shm`. Directories of the host for `/workspace` and
    /// `/results` are not shown.
    Container {
        /// User as a session sees itself, never 0.
        user: u32,
        /// Group as a session sees itself, never 0.
        group: u32,
        /// Bytes of `/workspace`.
        workspace: u64,
        /// Bytes of `/tmp`, and as many of `/dev/shm`.
        tmp: u64,
    },
}

/// [`KernelMemory`] in the form that is sent.
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
    /// Whether each session has a kernel user of its own.
    pub fn has_user_per_session(self) -> bool {
        !matches!(self, Identity::Single { .. })
    }

    /// How many sessions can have a user of their own at once.
    pub fn sessions(self) -> u32 {
        match self {
            Identity::Range { count, .. } | Identity::Subordinate { count, .. } => count.saturating_sub(1),
            Identity::Single { .. } => u32::MAX,
        }
    }
}
