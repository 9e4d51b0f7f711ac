//! What a session may use; a backend consumes every field or refuses to start.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

const MIB: u64 = 1024 * 1024;

/// Every bound of one session. Sizes are bytes, times are durations.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Longest duration of one run; waiting in the session's queue does not count.
    pub wall_time: Duration,
    /// CPU time that one run may burn, all processes of the session together.
    pub cpu_time: Duration,
    /// CPU rate in cores, all processes of the session together (`1.0` is one core).
    pub cpu_rate: f64,
    /// Memory of all processes and files of the session together.
    pub memory: u64,
    /// Processes and threads of the session together.
    pub processes: u32,
    /// Open descriptors of one process.
    pub open_files: u32,
    /// Size of one file.
    pub file_size: u64,
    /// Size of all files that the session writes.
    pub disk: u64,
    /// Number of files and directories that the session makes.
    pub inodes: u64,
    /// Standard output, and separately standard error, of one run; more is cut in the middle.
    pub output: u64,
    /// Host calls of one run.
    pub host_calls: u32,
    /// Host calls of one run that may be under way at once; more wait.
    pub concurrent_host_calls: u32,
    /// What the session reaches of the network.
    pub network: Network,
}

/// What a session reaches of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// No interface, no resolver, no metadata address.
    #[default]
    None,
    /// Listed hosts through the host's proxy.
    AllowList,
}

/// The name of one bound, as it appears in outcomes, settings and documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    missing_docs,
    reason = "each variant but the last is the field of `Limits` of the same name"
)]
pub enum Limit {
    WallTime,
    CpuTime,
    CpuRate,
    Memory,
    Processes,
    OpenFiles,
    FileSize,
    Disk,
    Inodes,
    Output,
    HostCalls,
    ConcurrentHostCalls,
    Network,
    /// Size of all files that a principal keeps; bound by `workspace`, not by a session's [`Limits`].
    Workspace,
}

impl Limit {
    /// Every limit of a session, in the order of the fields of [`Limits`].
    pub const ALL: [Limit; 13] = [
        Limit::WallTime,
        Limit::CpuTime,
        Limit::CpuRate,
        Limit::Memory,
        Limit::Processes,
        Limit::OpenFiles,
        Limit::FileSize,
        Limit::Disk,
        Limit::Inodes,
        Limit::Output,
        Limit::HostCalls,
        Limit::ConcurrentHostCalls,
        Limit::Network,
    ];

    /// The name in snake case, as in `limit_exceeded: memory`.
    pub fn name(self) -> &'static str {
        match self {
            Limit::WallTime => "wall_time",
            Limit::CpuTime => "cpu_time",
            Limit::CpuRate => "cpu_rate",
            Limit::Memory => "memory",
            Limit::Processes => "processes",
            Limit::OpenFiles => "open_files",
            Limit::FileSize => "file_size",
            Limit::Disk => "disk",
            Limit::Inodes => "inodes",
            Limit::Output => "output",
            Limit::HostCalls => "host_calls",
            Limit::ConcurrentHostCalls => "concurrent_host_calls",
            Limit::Network => "network",
            Limit::Workspace => "workspace",
        }
    }

    /// The limit of a session of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Limit> {
        Limit::ALL.into_iter().find(|limit| limit.name() == name)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Limits {
    /// Longest wall time that settings or a caller may ask for.
    pub const MAX_WALL_TIME: Duration = Duration::from_secs(300);
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            wall_time: Duration::from_secs(60),
            cpu_time: Duration::from_secs(60),
            cpu_rate: 1.0,
            memory: 1024 * MIB,
            processes: 64,
            open_files: 256,
            file_size: 256 * MIB,
            disk: 256 * MIB,
            inodes: 20_000,
            output: MIB,
            host_calls: 10_000,
            concurrent_host_calls: 100,
            network: Network::None,
        }
    }
}
