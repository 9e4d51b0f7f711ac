//! Version 2: one hierarchy; its controllers must be delegated to this process.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::bounds::{Bounds, CPU_PERIOD, CpuPriority, GroupUsage, cores, quota};
use super::disk::{Disks, operations};
use super::files::{Counter, NoControlGroups, make_empty, own_directory, set, set_cpu_priority};

const CONTROLLERS: [&str; 3] = ["memory", "pids", "cpu"];

/// The group that this process moves itself to.
const LEAF: &str = "codeyard-main";

#[derive(Debug)]
pub struct Groups {
    parent: PathBuf,
}

#[derive(Debug)]
pub struct Group {
    directory: PathBuf,
    cpu: Counter,
    peak_memory: Counter,
    events: Counter,
    tasks: Counter,
}

impl Groups {
    /// Makes the parent; `None` if controllers are missing.
    pub fn find(membership: &str, mounts: &str, name: &str) -> Option<Result<Self, NoControlGroups>> {
        let mut base = own_directory(membership, mounts, None)?;
        // If this process has already moved itself to the leaf, the base is the leaf's parent.
        if base.ends_with(LEAF) {
            base.pop();
        }
        let offered = fs::read_to_string(base.join("cgroup.controllers")).ok()?;
        let has = |controller: &&str| offered.split_whitespace().any(|name| name == *controller);
        if !CONTROLLERS.iter().all(has) {
            return None;
        }
        Some(delegate(&base).and_then(|()| {
            let parent = base.join(name);
            make_empty(&parent)?;
            enable(&parent).map_err(|error| not_writable(&parent, &error))?;
            Ok(Self { parent })
        }))
    }

    pub fn parent(&self) -> &Path {
        &self.parent
    }

    pub fn create(&self, name: &str) -> io::Result<Group> {
        let directory = self.parent.join(name);
        match fs::create_dir(&directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(io::Error::new(
                    error.kind(),
                    format!("{}: {error}", directory.display()),
                ));
            }
            _ => {}
        }
        Ok(Group {
            cpu: Counter::open(&directory, "cpu.stat"),
            peak_memory: Counter::open(&directory, "memory.peak"),
            events: Counter::open(&directory, "memory.events"),
            tasks: Counter::open(&directory, "pids.current"),
            directory,
        })
    }

    /// Enables `io` for the groups, or says why it is unavailable.
    pub fn throttles(&self) -> Result<(), String> {
        let base = self.parent.parent().unwrap_or(&self.parent);
        [base, &self.parent].iter().try_for_each(|directory| {
            set(directory, "cgroup.subtree_control", "+io")
                .map_err(|error| format!("the controller `io` is not delegated to this process ({error})"))
        })
    }
}

/// Enables the controllers for children of `base`. Only the root group may have both processes and such
/// children, so this process first moves to a leaf, if no other process shares the group.
fn delegate(base: &Path) -> Result<(), NoControlGroups> {
    if enable(base).is_ok() {
        return Ok(());
    }
    let alone = fs::read_to_string(base.join("cgroup.procs"))
        .is_ok_and(|pids| pids.lines().all(|pid| pid == std::process::id().to_string()));
    if !alone {
        let cause = "other processes share this group".to_owned();
        return Err(NoControlGroups::NotWritable {
            path: base.display().to_string(),
            cause,
        });
    }
    let leaf = base.join(LEAF);
    let moved = match fs::create_dir(&leaf) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => set(&leaf, "cgroup.procs", &std::process::id().to_string()),
    };
    moved
        .and_then(|()| enable(base))
        .map_err(|error| not_writable(base, &error))
}

fn enable(directory: &Path) -> io::Result<()> {
    set(directory, "cgroup.subtree_control", "+memory +pids +cpu")
}

fn not_writable(path: &Path, error: &io::Error) -> NoControlGroups {
    NoControlGroups::NotWritable {
        path: path.display().to_string(),
        cause: error.to_string(),
    }
}

impl Group {
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub fn enter(&self, pid: u32) -> io::Result<()> {
        set(&self.directory, "cgroup.procs", &pid.to_string())
    }

    pub fn bound(&self, bounds: Bounds, disks: &Disks) -> io::Result<()> {
        if bounds.disk_rate.is_some() || self.directory.join("io.max").exists() {
            self.throttle(bounds.disk_rate, disks)?;
        }
        set(&self.directory, "memory.max", &bounds.memory.to_string())?;
        if self.directory.join("memory.swap.max").exists() {
            set(&self.directory, "memory.swap.max", "0")?;
        }
        set(&self.directory, "pids.max", &bounds.processes.to_string())?;
        set(
            &self.directory,
            "cpu.max",
            &format!("{} {CPU_PERIOD}", quota(bounds.cpu_rate)),
        )
    }

    pub fn set_cpu_priority(&self, priority: CpuPriority) -> io::Result<()> {
        set_cpu_priority(&self.directory, priority, ("cpu.weight", 1, 100))
    }

    fn throttle(&self, rate: Option<u64>, disks: &Disks) -> io::Result<()> {
        let shown =
            |number: Option<u64>| number.map_or_else(|| "max".to_owned(), |number| number.to_string());
        let (bytes, operations) = (shown(rate), shown(rate.map(operations)));
        disks.numbers().iter().try_for_each(|disk| {
            let line = format!("{disk} rbps={bytes} wbps={bytes} riops={operations} wiops={operations}");
            set(&self.directory, "io.max", &line)
        })
    }

    /// The disk rate that applies to all of these disks; `None` without a common rate.
    fn throttled(&self, disks: &Disks) -> Option<u64> {
        let text = fs::read_to_string(self.directory.join("io.max")).ok()?;
        disks.rate(|disk| {
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix(disk)?.strip_prefix(' '))?;
            let value = |key: &str| {
                let mut words = line.split_whitespace();
                words.find_map(|word| word.strip_prefix(key)?.strip_prefix('=')?.parse().ok())
            };
            let [bytes, operations] = [["rbps", "wbps"], ["riops", "wiops"]];
            Some((bytes.map(value), operations.map(value)))
        })
    }

    pub fn bounds(&self, disks: &Disks) -> Bounds {
        Bounds {
            memory: Counter::open(&self.directory, "memory.max").number(),
            processes: u32::try_from(Counter::open(&self.directory, "pids.max").number()).unwrap_or(0),
            cpu_rate: cores(Counter::open(&self.directory, "cpu.max").float()),
            disk_rate: self.throttled(disks),
        }
    }

    pub fn usage(&self) -> GroupUsage {
        GroupUsage {
            cpu: Duration::from_micros(self.cpu.keyed("usage_usec")),
            peak_memory: self.peak_memory.number(),
            out_of_memory: self.events.keyed("oom_kill"),
        }
    }

    /// Processes and threads now.
    pub fn tasks(&self) -> u64 {
        self.tasks.number()
    }

    /// Bytes charged now.
    pub fn memory(&self) -> u64 {
        Counter::open(&self.directory, "memory.current").number()
    }

    pub fn remove(&self) -> bool {
        match fs::remove_dir(&self.directory) {
            Ok(()) => true,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
    }
}
