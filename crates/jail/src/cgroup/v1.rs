//! Version 1: one hierarchy per controller; a group is a directory in each.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::bounds::{Bounds, CPU_PERIOD, CpuPriority, GroupUsage, cores, quota};
use super::disk::{Disks, operations};
use super::files::{Counter, NoControlGroups, make_empty, mount, own_directory, set, set_cpu_priority};

/// Controllers of limits. `cpuacct` counts CPU time and often shares the hierarchy of `cpu`.
const CONTROLLERS: [&str; 4] = ["memory", "pids", "cpu", "cpuacct"];

/// Files of `blkio`, in bytes and operations per second.
const BYTES: [&str; 2] = [
    "blkio.throttle.read_bps_device",
    "blkio.throttle.write_bps_device",
];
const OPERATIONS: [&str; 2] = [
    "blkio.throttle.read_iops_device",
    "blkio.throttle.write_iops_device",
];

/// One parent per hierarchy, in the order of `CONTROLLERS`.
#[derive(Debug)]
pub struct Groups {
    parents: [PathBuf; 4],
    throttle: Result<PathBuf, String>,
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
    /// The `blkio` directory, which exists if the session has a disk rate.
    throttle: Option<PathBuf>,
}

impl Groups {
    /// Makes the parents; `None` if this machine has no version 1 memory controller.
    pub fn find(membership: &str, mounts: &str, name: &str) -> Option<Result<Self, NoControlGroups>> {
        mount(mounts, Some("memory"))?;
        let place = |controller: &str| Some(own_directory(membership, mounts, Some(controller))?.join(name));
        let [Some(memory), Some(pids), Some(cpu), Some(cpuacct)] = CONTROLLERS.map(place) else {
            return Some(Err(NoControlGroups::Controllers));
        };
        let parents = [memory, pids, cpu, cpuacct];
        let made = parents.iter().try_for_each(|parent| make_empty(parent));
        Some(made.map(|()| Self {
            throttle: throttle(place("blkio"), &parents),
            parents,
        }))
    }

    pub fn parents(&self) -> Vec<PathBuf> {
        self.parents.iter().chain(&self.throttle).cloned().collect()
    }

    pub fn throttles(&self) -> Result<(), String> {
        self.throttle.as_ref().map(drop).map_err(Clone::clone)
    }

    pub fn create(&self, name: &str) -> io::Result<Group> {
        let directories = self.parents.clone().map(|parent| parent.join(name));
        directories.iter().try_for_each(|directory| make(directory))?;
        let [memory, pids, _, cpuacct] = &directories;
        Ok(Group {
            cpu: Counter::open(cpuacct, "cpuacct.usage"),
            peak_memory: Counter::open(memory, "memory.max_usage_in_bytes"),
            out_of_memory: Counter::open(memory, "memory.oom_control"),
            tasks: Counter::open(pids, "pids.current"),
            entrances: distinct(&directories)
                .map(|directory| entrance(directory))
                .collect::<io::Result<_>>()?,
            throttle: self.throttle.as_ref().ok().map(|parent| parent.join(name)),
            directories,
        })
    }
}

impl Group {
    pub fn entrances(&mut self) -> Vec<OwnedFd> {
        std::mem::take(&mut self.entrances)
    }

    pub fn directories(&self) -> Vec<PathBuf> {
        let throttle = self.throttle.iter().filter(|directory| directory.exists());
        distinct(&self.directories).chain(throttle).cloned().collect()
    }

    pub fn enter(&self, pid: u32) -> io::Result<()> {
        let text = pid.to_string();
        distinct(&self.directories).try_for_each(|directory| set(directory, "cgroup.procs", &text))?;
        self.enter_throttle(pid)
    }

    /// Moves a process into the `blkio` directory, if there is one.
    pub fn enter_throttle(&self, pid: u32) -> io::Result<()> {
        match self.throttle.as_ref().filter(|directory| directory.exists()) {
            Some(directory) => set(directory, "cgroup.procs", &pid.to_string()),
            None => Ok(()),
        }
    }

    pub fn bound(&self, bounds: Bounds, disks: &Disks) -> io::Result<()> {
        self.throttle(bounds.disk_rate, disks)?;
        let [memory, pids, cpu, _] = &self.directories;
        let bytes = bounds.memory.to_string();
        // The limit on memory plus swap must never be below the limit on memory. So the order of the two writes
        // depends on whether the limit rises or falls.
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

    pub fn set_cpu_priority(&self, priority: CpuPriority) -> io::Result<()> {
        let [_, _, cpu, _] = &self.directories;
        set_cpu_priority(cpu, priority, ("cpu.shares", 2, 1024))
    }

    /// Sets the disk rate. Most sessions have none, so the first rate makes the directory.
    fn throttle(&self, rate: Option<u64>, disks: &Disks) -> io::Result<()> {
        let Some(directory) = &self.throttle else {
            return match rate {
                None => Ok(()),
                Some(_) => Err(io::Error::other("the controller blkio is not mounted")),
            };
        };
        match rate {
            None if !directory.exists() => return Ok(()),
            None => {}
            Some(_) => make(directory)?,
        }
        let bounds = [(BYTES, rate), (OPERATIONS, rate.map(operations))];
        for (file, number) in bounds
            .iter()
            .flat_map(|(files, number)| files.iter().map(move |file| (file, number)))
        {
            for disk in disks.numbers() {
                // 0 removes the bound.
                set(directory, file, &format!("{disk} {}", number.unwrap_or(0)))?;
            }
        }
        Ok(())
    }

    fn throttled(&self, disks: &Disks) -> Option<u64> {
        let directory = self.throttle.as_ref()?;
        disks.rate(|disk| {
            let value = |file: &str| Counter::open(directory, file).keyed(disk);
            let found = |file: &str| Some(value(file)).filter(|number| *number > 0);
            Some((BYTES.map(found), OPERATIONS.map(found)))
        })
    }

    pub fn bounds(&self, disks: &Disks) -> Bounds {
        let [memory, pids, cpu, _] = &self.directories;
        Bounds {
            memory: Counter::open(memory, "memory.limit_in_bytes").number(),
            processes: u32::try_from(Counter::open(pids, "pids.max").number()).unwrap_or(0),
            cpu_rate: cores(Counter::open(cpu, "cpu.cfs_quota_us").float()),
            disk_rate: self.throttled(disks),
        }
    }

    pub fn usage(&self) -> GroupUsage {
        GroupUsage {
            cpu: Duration::from_nanos(self.cpu.number()),
            peak_memory: self.peak_memory.number(),
            out_of_memory: self.out_of_memory.keyed("oom_kill"),
        }
    }

    /// Processes and threads now.
    pub fn tasks(&self) -> u64 {
        self.tasks.number()
    }

    /// Bytes charged now.
    pub fn memory(&self) -> u64 {
        let [memory, ..] = &self.directories;
        Counter::open(memory, "memory.usage_in_bytes").number()
    }

    pub fn remove(&self) -> bool {
        self.directories
            .iter()
            .chain(&self.throttle)
            .all(|directory| match fs::remove_dir(directory) {
                Ok(()) => true,
                Err(error) => error.kind() == io::ErrorKind::NotFound,
            })
    }
}

/// Makes a session's directory, or reuses it if it exists.
fn make(directory: &Path) -> io::Result<()> {
    match fs::create_dir(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(io::Error::new(
            error.kind(),
            format!("{}: {error}", directory.display()),
        )),
        _ => Ok(()),
    }
}

/// The parent in the hierarchy of `blkio`, which may be missing.
fn throttle(place: Option<PathBuf>, parents: &[PathBuf]) -> Result<PathBuf, String> {
    let parent = place.ok_or("the kernel offers no controller blkio to this process")?;
    if !parents.contains(&parent) {
        make_empty(&parent).map_err(|missing| missing.to_string())?;
    }
    Ok(parent)
}

/// Each directory once: `cpuacct` often shares the hierarchy of `cpu`.
fn distinct(directories: &[PathBuf; 4]) -> impl Iterator<Item = &PathBuf> {
    let [_, _, cpu, cpuacct] = directories;
    let count = if cpu == cpuacct { 3 } else { 4 };
    directories.iter().take(count)
}

/// Opens the file to which a thread writes to move itself into the group.
fn entrance(directory: &Path) -> io::Result<OwnedFd> {
    Ok(File::options().write(true).open(directory.join("tasks"))?.into())
}
