//! What a session may use; a backend uses every field or refuses to start.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::units;

const MIB: u64 = 1024 * 1024;

/// All limits of one session. Sizes are in bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Longest run; waiting in the session's queue does not count.
    pub wall_time: Duration,
    /// CPU time of one run, over all processes of the session.
    pub cpu_time: Duration,
    /// In cores, over all processes of the session (`1.0` is one core).
    pub cpu_rate: f64,
    /// Over all processes and files of the session.
    pub memory: u64,
    /// Processes and threads of the session.
    pub processes: u32,
    /// Open descriptors per process.
    pub open_files: u32,
    /// Size per file.
    pub file_size: u64,
    /// Over all files that the session writes.
    pub disk: u64,
    /// Files and directories that the session makes.
    pub inodes: u64,
    /// Bytes per second read from, and written to, the disks of the host's files that the session sees;
    /// `None` for no limit.
    pub disk_rate: Option<u64>,
    /// Of one run: standard output, and separately standard error. More is cut in the middle.
    pub output: u64,
    /// Per run.
    pub host_calls: u32,
    /// Concurrent host calls of one run; further calls wait.
    pub concurrent_host_calls: u32,
    /// Network access.
    pub network: Network,
}

/// The limits that each run has for itself; the fields are those of [`Limits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is that of `Limits` of the same name")]
pub struct RunLimits {
    pub wall_time: Duration,
    pub cpu_time: Duration,
    pub output: u64,
    pub host_calls: u32,
    pub concurrent_host_calls: u32,
}

/// The limits granted to a caller for one run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Granted {
    /// Limits of the run, and of the session if the run opens it.
    pub limits: Limits,
    /// Limits that the caller named: a session that is already open must have exactly these.
    pub named: Vec<Limit>,
}

/// A session's network access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// No interface, no resolver, no metadata address.
    #[default]
    None,
    /// Listed hosts, through the host's proxy.
    AllowList,
}

/// The name of a limit, in outcomes, settings and documents.
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
    /// Size of all files that a principal keeps; enforced by `workspace`, not by a session's [`Limits`].
    Workspace,
}

impl Limit {
    /// All limits of a session, in the order of the fields of [`Limits`].
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

    /// In snake case, as in `limit_exceeded: memory`.
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

    /// Whether the limit applies to the open session as a whole, not to each run.
    pub fn is_of_session(self) -> bool {
        !matches!(
            self,
            Limit::WallTime | Limit::CpuTime | Limit::Output | Limit::HostCalls | Limit::ConcurrentHostCalls
        )
    }

    /// A session's limit with this name.
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
    /// Longest wall time that can be set.
    pub const MAX_WALL_TIME: Duration = Duration::from_secs(3600);
    /// Longest wall time that a caller may ask for, by default.
    pub const DEFAULT_MAX_WALL_TIME: Duration = Duration::from_secs(300);

    /// The limits of one run.
    pub fn of_run(&self) -> RunLimits {
        RunLimits {
            wall_time: self.wall_time,
            cpu_time: self.cpu_time,
            output: self.output,
            host_calls: self.host_calls,
            concurrent_host_calls: self.concurrent_host_calls,
        }
    }

    /// One limit's value, as written in settings.
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
    /// The word in settings.
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
