//! Specification of a guest without namespaces, sent from the host to the keeper.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::session::PathAccess;
use crate::session::wire::RLIMITS;
use crate::spec::Counting;

/// Everything the keeper needs to start a guest.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GuestSpec {
    /// Path of the executable.
    pub program: PathBuf,
    /// Without the program's name.
    pub arguments: Vec<String>,
    /// The complete environment.
    pub environment: Vec<(String, String)>,
    /// Directory in which the guest starts.
    pub working_directory: PathBuf,
    /// Files of the host that the guest may access; all other files are closed to the guest.
    pub rules: Vec<Rule>,
    /// User and group of the guest, if the keeper is root.
    pub user: Option<u32>,
    /// Resource limits, soft and hard alike, in the order of [`RLIMITS`].
    pub rlimits: [u64; RLIMITS.len()],
    /// Whether a cgroup counts kernel memory.
    pub memory: Counting,
    /// Directory of the session, removed with its content when the last process has ended.
    pub directory: PathBuf,
}

/// Access of a guest to a path of the host and everything below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Absolute; links are followed when the guest starts.
    pub path: PathBuf,
    /// Kind of access.
    pub access: PathAccess,
}
