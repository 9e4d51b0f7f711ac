//! Version 1: one hierarchy per controller; a group is a directory in each.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{
    Bounds, CPU_PERIOD, Counter, Missing, Usage, cores, make_empty, mount, own_directory, quota, set,
    yield_cpu,
};

/// Controllers that bind a limit. `cpuacct` counts; it often shares the hierarchy of `cpu`.
const CONTROLLERS: [&str; 4] = ["memory", "pids", "cpu", "cpuacct"];

/// The parents, one in each hierarchy, in the order of `CONTROLLERS`.
#[derive(Debug)]
pub struct Groups {
    parents: [PathBuf; 4],
}

/// A session's directories, in the order of `CONTROLLERS`.
#[derive(Debug)]
pub struct Group {
    directories: [PathBuf; 4],
    cpu: Counter,
    peak_memory: Counter,
    out_of_memory: Counter,
    tasks: Counter,
    entrances: Vec<OwnedFd>,
}

impl Groups {
    /// Makes the parents; `None` if this machine has no version 1 memory controller.
    pub fn find(own: &str, mounts: &str, name: &str) -> Option<Result<Self, Missing>> {
        mount(mounts, Some("memory"))?;
        let place = |controller: &str| Some(own_directory(own, mounts, Some(controller))?.join(name));
        let [Some(memory), Some(pids), Some(cpu), Some(cpuacct)] = CONTROLLERS.map(place) else {
            return Some(Err(Missing::Controllers));
        };
        let parents = [memory, pids, cpu, cpuacct];
        Some(
            parents
                .iter()
                .try_for_each(|parent| make_empty(parent))
                .map(|()| Self { parents }),
        )
    }

    /// The parents, one in each hierarchy.
    pub fn parents(&self) -> &[PathBuf; 4] {
        &self.parents
    }

    /// Makes a session's group.
    pub fn create(&self, name: &str, bounds: Bounds) -> io::Result<Group> {
        let directories = self.parents.clone().map(|parent| parent.join(name));
        for directory in &directories {
            match fs::create_dir(directory) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(io::Error::new(
                        error.kind(),
                        format!("{}: {error}", directory.display()),
                    ));
                }
                _ => {}
            }
        }
        let [memory, pids, _, cpuacct] = &directories;
        let group = Group {
            cpu: Counter::open(cpuacct, "cpuacct.usage"),
            peak_memory: Counter::open(memory, "memory.max_usage_in_bytes"),
            out_of_memory: Counter::open(memory, "memory.oom_control"),
            tasks: Counter::open(pids, "pids.current"),
            entrances: distinct(&directories)
                .map(|directory| entrance(directory))
                .collect::<io::Result<_>>()?,
            directories,
        };
        group.bound(bounds)?;
        Ok(group)
    }
}

impl Group {
    /// Hands out the files that a thread enters by.
    pub fn entrances(&mut self) -> Vec<OwnedFd> {
        std::mem::take(&mut self.entrances)
    }

    /// Each directory once.
    pub fn directories(&self) -> Vec<PathBuf> {
        distinct(&self.directories).cloned().collect()
    }

    /// Moves a process into every directory.
    pub fn enter(&self, pid: u32) -> io::Result<()> {
        let pid = pid.to_string();
        distinct(&self.directories).try_for_each(|directory| set(directory, "cgroup.procs", &pid))
    }

    /// Sets the bounds.
    pub fn bound(&self, bounds: Bounds) -> io::Result<()> {
        let [memory, pids, cpu, _] = &self.directories;
        let bytes = bounds.memory.to_string();
        // The bound on memory and swap may not be below that on memory at any moment: raise one, lower the other.
        let swap = memory.join("memory.memsw.limit_in_bytes").exists();
        if swap && Counter::open(memory, "memory.memsw.limit_in_bytes").number() < bounds.memory {
            set(memory, "memory.memsw.limit_in_bytes", &bytes)?;
        }
        set(memory, "memory.limit_in_bytes", &bytes)?;
        if swap {
            set(memory, "memory.memsw.limit_in_bytes", &bytes)?;
        } else {
            set(memory, "memory.swappiness", "0")?;
        }
        set(pids, "pids.max", &bounds.processes.to_string())?;
        set(cpu, "cpu.cfs_period_us", &CPU_PERIOD.to_string())?;
        set(cpu, "cpu.cfs_quota_us", &quota(bounds.cpu_rate))
    }

    /// Lets the groups beside it go first, or not.
    pub fn yield_cpu(&self, yields: bool) -> io::Result<()> {
        let [_, _, cpu, _] = &self.directories;
        yield_cpu(cpu, yields, ("cpu.shares", 2, 1024))
    }

    /// Reads back what it is bound to.
    pub fn bounds(&self) -> Bounds {
        let [memory, pids, cpu, _] = &self.directories;
        Bounds {
            memory: Counter::open(memory, "memory.limit_in_bytes").number(),
            processes: u32::try_from(Counter::open(pids, "pids.max").number()).unwrap_or(0),
            cpu_rate: cores(Counter::open(cpu, "cpu.cfs_quota_us").float()),
        }
    }

    /// Reads the counters.
    pub fn usage(&self) -> Usage {
        Usage {
            cpu: Duration::from_nanos(self.cpu.number()),
            peak_memory: self.peak_memory.number(),
            out_of_memory: self.out_of_memory.keyed("oom_kill"),
        }
    }

    /// Processes and threads now.
    pub fn tasks(&self) -> u64 {
        self.tasks.number()
    }

    /// Memory charged now.
    pub fn memory(&self) -> u64 {
        let [memory, ..] = &self.directories;
        Counter::open(memory, "memory.usage_in_bytes").number()
    }

    /// Removes every directory.
    pub fn remove(&self) -> bool {
        self.directories
            .iter()
            .all(|directory| match fs::remove_dir(directory) {
                Ok(()) => true,
                Err(error) => error.kind() == io::ErrorKind::NotFound,
            })
    }
}

/// Each directory once: `cpuacct` often shares the hierarchy of `cpu`.
fn distinct(directories: &[PathBuf; 4]) -> impl Iterator<Item = &PathBuf> {
    let [_, _, cpu, cpuacct] = directories;
    let count = if cpu == cpuacct { 3 } else { 4 };
    directories.iter().take(count)
}

/// The file that a thread moves itself by.
fn entrance(directory: &Path) -> io::Result<OwnedFd> {
    Ok(File::options().write(true).open(directory.join("tasks"))?.into())
}
