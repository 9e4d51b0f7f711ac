//! Settings that every backend has.

use std::ffi::OsString;
use std::path::PathBuf;

use jail::spec::Appearance;
use types::{Limits, RequiredIsolation};

use crate::python;

/// Settings that every backend has.
#[derive(Debug, Clone)]
pub struct HostConfig {
    /// The data directory: managed environments and leases lie there.
    pub data: PathBuf,
    /// Where to look for Python.
    pub python: python::Settings,
    /// The weakest isolation that the operator accepts.
    pub require: RequiredIsolation,
    /// Whether to use no control groups, as on a machine that has none.
    pub without_cgroups: bool,
    /// Whether programs may execute and load files that they wrote to the session's own file systems.
    pub exec: bool,
    /// Limits that most sessions have. What the backend prepares in advance has these limits.
    pub limits: Limits,
    /// Command line of a program that calls `jail::dispatch`, usually this one.
    pub helper: Vec<OsString>,
    /// What sessions look like from inside.
    pub appearance: Appearance,
    /// Directories of the host whose disks `disk_rate` limits.
    pub throttled_directories: Vec<PathBuf>,
}

impl HostConfig {
    /// The defaults: sessions of one tenant, with control groups where the machine has them.
    pub fn new(data: PathBuf, python: python::Settings, helper: Vec<OsString>) -> HostConfig {
        HostConfig {
            data,
            python,
            require: RequiredIsolation::default(),
            without_cgroups: false,
            exec: false,
            limits: Limits::default(),
            helper,
            appearance: Appearance::default(),
            throttled_directories: Vec::new(),
        }
    }
}
