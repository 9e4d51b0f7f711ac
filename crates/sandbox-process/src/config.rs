//! Settings of the backend.

use std::path::PathBuf;
use std::time::Duration;

use jail::guards::RemovedGuards;

/// Values of the settings, and what tests change.
#[derive(Debug, Clone)]
pub struct ProcessConfig {
    /// Settings that other backends share.
    pub host: sandbox_host::HostConfig,
    /// The zygote of sessions.
    pub profile: Profile,
    /// Whether sessions of an ordinary user get users of the subordinate range even if single-tenant isolation is
    /// enough.
    pub user_per_session: bool,
    /// Guards that tests remove; empty except in test builds.
    pub removed: RemovedGuards,
    /// Idle sessions, and the age of zygotes.
    pub pool: PoolConfig,
    /// Targets of the settings' folders in sessions, such as `/data`. The attachments of launches use these targets.
    pub mounts: Vec<String>,
    /// Whether programs may know the host paths of their directories: all sessions belong to one local user.
    pub reveals_host_paths: bool,
    /// Paths of the host that become links to a path in sessions.
    pub host_links: Vec<(PathBuf, PathBuf)>,
    /// User and group on disk of the files that launches will attach. `None`: sessions keep no files on the host.
    pub owner: Option<(u32, u32)>,
}

impl ProcessConfig {
    /// Defaults, with all guards.
    pub fn new(host: sandbox_host::HostConfig) -> ProcessConfig {
        ProcessConfig {
            host,
            profile: Profile::default(),
            user_per_session: false,
            removed: RemovedGuards::default(),
            pool: PoolConfig::default(),
            mounts: Vec::new(),
            reveals_host_paths: false,
            host_links: Vec::new(),
            owner: None,
        }
    }
}

/// Number of idle sessions, and lifetime of zygotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolConfig {
    /// Limit on idle sessions per profile; 0 for none. Demand decides the number.
    pub max_idle: u32,
    /// Sessions after which a zygote is replaced.
    pub renew_sessions: u32,
    /// Age after which a zygote is replaced.
    pub renew_after: Duration,
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self {
            max_idle: 4,
            renew_sessions: 10_000,
            renew_after: Duration::from_secs(60 * 60),
        }
    }
}

/// The zygote that a session comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// `Data` if the session's first program imports a library of it, else `Plain`.
    #[default]
    Auto,
    /// Only the standard library is loaded.
    Plain,
    /// numpy and pandas are loaded too.
    Data,
}
