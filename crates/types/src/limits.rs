//! What a session may use; a backend consumes every field or refuses to start.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::units;

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
    /// Bytes a second that the session reads from, and writes to, the disks of the host's files that it sees; `None` for no bound.
    pub disk_rate: Option<u64>,
    /// Standard output, and separately standard error, of one run; more is cut in the middle.
    pub output: u64,
    /// Host calls of one run.
    pub host_calls: u32,
    /// Host calls of one run that may be under way at once; more wait.
    pub concurrent_host_calls: u32,
    /// What the session reaches of the network.
    pub network: Network,
}

/// The limits that each run of a session has for itself; the fields are those of [`Limits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is that of `Limits` of the same name")]
pub struct RunLimits {
    pub wall_time: Duration,
    pub cpu_time: Duration,
    pub output: u64,
    pub host_calls: u32,
    pub concurrent_host_calls: u32,
}

/// What a caller is granted for one run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Granted {
    /// Those of the run, and of the session if the run opens it.
    pub limits: Limits,
    /// Which of them the caller named: a session that is open already must have these.
    pub named: Vec<Limit>,
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
    DiskRate,
    Output,
    HostCalls,
    ConcurrentHostCalls,
    Network,
    /// Size of all files that a principal keeps; bound by `workspace`, not by a session's [`Limits`].
    Workspace,
}

impl Limit {
    /// Every limit of a session, in the order of the fields of [`Limits`].
    pub const ALL: [Limit; 14] = [
        Limit::WallTime,
        Limit::CpuTime,
        Limit::CpuRate,
        Limit::Memory,
        Limit::Processes,
        Limit::OpenFiles,
        Limit::FileSize,
        Limit::Disk,
        Limit::Inodes,
        Limit::DiskRate,
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
            Limit::DiskRate => "disk_rate",
            Limit::Output => "output",
            Limit::HostCalls => "host_calls",
            Limit::ConcurrentHostCalls => "concurrent_host_calls",
            Limit::Network => "network",
            Limit::Workspace => "workspace",
        }
    }

    /// Whether it is a session's for as long as the session is open, and not each run's own.
    pub fn is_of_session(self) -> bool {
        !matches!(
            self,
            Limit::WallTime | Limit::CpuTime | Limit::Output | Limit::HostCalls | Limit::ConcurrentHostCalls
        )
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
    /// Longest wall time that anybody may set.
    pub const MAX_WALL_TIME: Duration = Duration::from_secs(3600);
    /// Longest wall time that a caller may ask for where nothing else is set.
    pub const DEFAULT_MAX_WALL_TIME: Duration = Duration::from_secs(300);

    /// Those that bind one run.
    pub fn of_run(&self) -> RunLimits {
        RunLimits {
            wall_time: self.wall_time,
            cpu_time: self.cpu_time,
            output: self.output,
            host_calls: self.host_calls,
            concurrent_host_calls: self.concurrent_host_calls,
        }
    }

    /// The value of one limit, as it is written in settings.
    pub fn shown(&self, limit: Limit) -> String {
        match limit {
            Limit::WallTime => units::show_duration(self.wall_time),
            Limit::CpuTime => units::show_duration(self.cpu_time),
            Limit::CpuRate => self.cpu_rate.to_string(),
            Limit::Memory => units::show_size(self.memory),
            Limit::Processes => self.processes.to_string(),
            Limit::OpenFiles => self.open_files.to_string(),
            Limit::FileSize => units::show_size(self.file_size),
            Limit::Disk => units::show_size(self.disk),
            Limit::Inodes => self.inodes.to_string(),
            Limit::DiskRate => self.disk_rate.map_or_else(|| "none".to_owned(), units::show_size),
            Limit::Output => units::show_size(self.output),
            Limit::HostCalls => self.host_calls.to_string(),
            Limit::ConcurrentHostCalls => self.concurrent_host_calls.to_string(),
            Limit::Network => self.network.name().to_owned(),
            Limit::Workspace => String::new(),
        }
    }
}

impl Network {
    /// The word of the settings.
    pub fn name(self) -> &'static str {
        match self {
            Network::None => "none",
            Network::AllowList => "allow-list",
        }
    }
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
            disk_rate: None,
            output: MIB,
            host_calls: 10_000,
            concurrent_host_calls: 100,
            network: Network::None,
        }
    }
}
