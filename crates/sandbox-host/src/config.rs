//! Settings that every backend has.

use std::ffi::OsString;
use std::path::PathBuf;

use jail::spec::Appearance;
use types::{Limits, RequiredIsolation};

use crate::{python, shell, typescript};

/// Values of the settings that every backend uses.
#[derive(Debug, Clone)]
pub struct HostConfig {
    /// The data directory, which holds managed environments and leases.
    pub data: PathBuf,
    /// Where the backend looks for Python.
    pub python: python::Settings,
    /// The engine of TypeScript.
    pub typescript: typescript::Settings,
    /// What shells need of this program.
    pub shell: shell::ShellFiles,
    /// The weakest isolation that the operator accepts.
    pub require: RequiredIsolation,
    /// Whether to ignore control groups.
    pub without_cgroups: bool,
    /// Whether programs may execute and load files that they wrote to the session's own file systems.
    pub exec: bool,
    /// The usual limits, with which the backend prepares sessions in advance.
    pub limits: Limits,
    /// Command line of a program that calls `jail::dispatch`, usually this one.
    pub helper: Vec<OsString>,
    /// What sessions look like from inside.
    pub appearance: Appearance,
    /// Directories of the host whose disks `disk_rate` limits.
    pub throttled_directories: Vec<PathBuf>,
}

impl HostConfig {
    /// Serves sessions of one tenant, with control groups if the machine has them.
    pub fn new(data: PathBuf, python: python::Settings, helper: Vec<OsString>) -> HostConfig {
        HostConfig {
            data,
            python,
            typescript: typescript::Settings::default(),
            shell: shell::ShellFiles::default(),
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
