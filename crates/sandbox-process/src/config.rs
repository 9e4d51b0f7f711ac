//! What the backend is told.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use jail::guards::Removed;
use jail::spec::Appearance;
use serde::{Deserialize, Serialize};
use types::Limits;

use crate::python;

/// Settings of the backend.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where the managed environment and leases lie.
    pub data: PathBuf,
    /// Where to look for Python.
    pub python: python::Settings,
    /// Which zygote a session comes from.
    pub profile: Profile,
    /// The weakest guarantee that is accepted.
    pub require: Requirement,
    /// Whether to do without control groups, as on a machine that has none.
    pub without_groups: bool,
    /// Whether an ordinary user's sessions get users of its subordinate range even where one tenant is enough.
    pub own_users: bool,
    /// Whether programs may execute and load files that they made on the session's own file system.
    pub exec: bool,
    /// Guards that tests leave away; none in every build but one for tests.
    pub removed: Removed,
    /// Limits that most sessions have: what is prepared ahead has these.
    pub limits: Limits,
    /// Command line of a program that calls `jail::dispatch`, usually this one.
    pub helper: Vec<OsString>,
    /// What all sessions look like from inside.
    pub appearance: Appearance,
    /// Whether unconfined guests can be had.
    pub floor: Floor,
    /// Sessions that stand ready, and zygotes' age.
    pub pool: Pool,
    /// Where folders of the settings appear in sessions, such as `/data`; launches name them as targets.
    pub mounts: Vec<String>,
    /// Whether programs may know where their directories are on the host: they all are one local user's.
    pub tells_places: bool,
    /// Paths of the host that lead to a place in sessions too.
    pub host_links: Vec<(PathBuf, PathBuf)>,
    /// Whose files launches will attach, as user and group on disk; sessions keep their files to themselves if nobody's.
    pub owner: Option<(u32, u32)>,
    /// Directories of the host whose disks `disk_rate` binds.
    pub on_disk: Vec<PathBuf>,
}

impl Config {
    /// The defaults: sessions of one tenant, confined, with all guards.
    pub fn new(data: PathBuf, python: python::Settings, helper: Vec<OsString>) -> Config {
        Config {
            data,
            python,
            profile: Profile::default(),
            require: Requirement::default(),
            without_groups: false,
            own_users: false,
            exec: false,
            removed: Removed::default(),
            limits: Limits::default(),
            helper,
            appearance: Appearance::default(),
            floor: Floor::default(),
            pool: Pool::default(),
            mounts: Vec::new(),
            tells_places: false,
            host_links: Vec::new(),
            owner: None,
            on_disk: Vec::new(),
        }
    }
}

/// How many sessions stand ready ahead of need, and when a zygote is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pool {
    /// Most sessions of one profile that stand ready; 0 for none. How many do depends on demand.
    pub most: u32,
    /// Sessions after which a zygote is replaced.
    pub renew_sessions: u32,
    /// Age after which a zygote is replaced.
    pub renew_after: Duration,
}

impl Default for Pool {
    fn default() -> Self {
        Self {
            most: 4,
            renew_sessions: 10_000,
            renew_after: Duration::from_secs(60 * 60),
        }
    }
}

/// Which zygote a session comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// `Data` if the session's first program imports what it has, else `Plain`.
    #[default]
    Auto,
    /// The standard library loaded.
    Plain,
    /// numpy and pandas loaded as well.
    Data,
}

/// Which guarantees the operator demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Requirement {
    /// Sessions of one tenant only.
    #[default]
    SingleTenant,
    /// Sessions of tenants that must not touch each other: a kernel user per session and hard memory and process limits.
    TenantIsolation,
}

/// Whether unconfined guests can be had: the floor that benchmarks measure against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Floor {
    /// The zygote refuses; what every server uses.
    #[default]
    Refused,
    /// Benchmarks only.
    Offered,
}
