//! What a guest without namespaces is to be: the data that the host sends to the keeper.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::session::PathAccess;
use crate::session::wire::RLIMITS;
use crate::spec::Counting;

/// Everything the keeper needs to start a guest.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GuestSpec {
    /// Program to execute.
    pub program: PathBuf,
    /// Its arguments, without its name.
    pub arguments: Vec<String>,
    /// Its whole environment.
    pub environment: Vec<(String, String)>,
    /// Where it begins to work.
    pub working_directory: PathBuf,
    /// What it may reach of the host's files; everything else is closed.
    pub rules: Vec<Rule>,
    /// The user and group that it becomes, if the keeper is root.
    pub user: Option<u32>,
    /// Resource limits, soft and hard alike, in the order of [`RLIMITS`].
    pub rlimits: [u64; RLIMITS.len()],
    /// Whether a cgroup counts kernel memory.
    pub memory: Counting,
    /// Removed with all that is in it when the last process is gone.
    pub directory: PathBuf,
}

/// What a guest may do at a path of the host and below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Absolute; links are followed when the guest starts.
    pub path: PathBuf,
    /// What it may do there.
    pub access: PathAccess,
}
