//! Settings of the backend.

use std::path::PathBuf;
use std::time::Duration;

use jail::guards::RemovedGuards;

/// Settings of the backend.
#[derive(Debug, Clone)]
pub struct ProcessConfig {
    /// Settings that every backend has.
    pub host: sandbox_host::HostConfig,
    /// The zygote that sessions come from.
    pub profile: Profile,
    /// Whether an ordinary user's sessions get users of the subordinate range even where single-tenant isolation is enough.
    pub user_per_session: bool,
    /// Guards that tests remove; empty in every build except one for tests.
    pub removed: RemovedGuards,
    /// Idle sessions, and the age of zygotes.
    pub pool: PoolConfig,
    /// Where folders of the settings appear in sessions, such as `/data`. Launches use them as targets.
    pub mounts: Vec<String>,
    /// Whether programs may know the paths of their directories on the host: all sessions belong to one local user.
    pub reveals_host_paths: bool,
    /// Paths of the host that are links to a path in sessions.
    pub host_links: Vec<(PathBuf, PathBuf)>,
    /// User and group on disk of the files that launches will attach. `None`: sessions keep no files on the host.
    pub owner: Option<(u32, u32)>,
}

impl ProcessConfig {
    /// The defaults, with all guards.
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

/// How many idle sessions are kept, and when a zygote is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolConfig {
    /// Most idle sessions of one profile; 0 for none. Demand decides how many there are.
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
    /// `Data` if the session's first program imports a library that it has, else `Plain`.
    #[default]
    Auto,
    /// The standard library is loaded.
    Plain,
    /// numpy and pandas are loaded too.
    Data,
}
