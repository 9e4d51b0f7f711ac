//! Control groups of sessions, version 1 or 2: prepared ahead, entered once, removed at the end.
//!
//! All groups of this process lie below one parent, named after the process's lease. Preparing first removes what a
//! dead holder of the lease left there. A group's path reveals only the lease and the session's number to the session.

mod bounds;
mod disk;
mod files;
mod v1;
mod v2;

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::OnceLock;

pub use bounds::{Bounds, CpuPriority, GroupUsage};
pub use disk::{Disks, Unthrottled};
pub use files::NoControlGroups;
pub(crate) use files::{remove_all, remove_orphaned};

const TRIAL: Bounds = Bounds {
    memory: 64 << 20,
    processes: 16,
    cpu_rate: 0.5,
    disk_rate: None,
};

const THROTTLED_TRIAL: Bounds = Bounds {
    disk_rate: Some(16 << 20),
    ..TRIAL
};

/// The parent of this process's groups.
#[derive(Debug)]
pub struct Groups {
    hierarchy: Hierarchy,
    disks: Disks,
    /// Whether these groups can limit disk rates; tested at the first request.
    throttles: OnceLock<Result<(), Unthrottled>>,
}

#[derive(Debug)]
enum Hierarchy {
    V1(v1::Groups),
    V2(v2::Groups),
}

/// One session's group.
#[derive(Debug)]
pub struct Group {
    kind: GroupKind,
    disks: Disks,
}

#[derive(Debug)]
enum GroupKind {
    V1(v1::Group),
    V2(v2::Group),
}

impl Groups {
    /// Finds a hierarchy in which this process can make groups, and makes an empty parent for the lease there. The
    /// name `lease` must be unique, because other users and containers may use the same hierarchy with their own
    /// leases. Disk rates apply to `disks`.
    ///
    /// # Errors
    /// What is missing for control groups.
    pub fn prepare(lease: &str, disks: Disks) -> Result<Self, NoControlGroups> {
        let membership = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let name = format!("codeyard-{lease}");
        let boot = fs::read_to_string("/proc/cmdline").unwrap_or_default();
        if let Some(uncounted) = uncounted(&boot) {
            return Err(NoControlGroups::KernelMemory(uncounted.to_owned()));
        }
        let hierarchy = match v1::Groups::find(&membership, &mounts, &name) {
            Some(groups) => Hierarchy::V1(groups?),
            None => Hierarchy::V2(
                v2::Groups::find(&membership, &mounts, &name).ok_or(NoControlGroups::Controllers)??,
            ),
        };
        let groups = Self {
            hierarchy,
            disks,
            throttles: OnceLock::new(),
        };
        groups.try_out(TRIAL)?;
        Ok(groups)
    }

    /// Makes a group and reads its limits back, because a limit that was written may still have no effect.
    fn try_out(&self, trial: Bounds) -> Result<(), NoControlGroups> {
        let failed = |cause: String| NoControlGroups::NotBinding {
            path: match &self.hierarchy {
                Hierarchy::V1(groups) => groups.parents()[0].display().to_string(),
                Hierarchy::V2(groups) => groups.parent().display().to_string(),
            },
            cause,
        };
        let group = self
            .create("trial", trial)
            .map_err(|error| failed(error.to_string()))?;
        let found = match &group.kind {
            GroupKind::V1(group) => group.bounds(&self.disks),
            GroupKind::V2(group) => group.bounds(&self.disks),
        };
        group.remove();
        if found == trial {
            Ok(())
        } else {
            Err(failed(format!("{trial} reads back as {found}")))
        }
    }

    /// The disks whose throughput these groups can limit.
    ///
    /// # Errors
    /// Why a disk rate has no effect here, with the remedy.
    pub fn throttles(&self) -> Result<&Disks, Unthrottled> {
        let found = self.throttles.get_or_init(|| {
            self.disks.known()?;
            let controller = match &self.hierarchy {
                Hierarchy::V1(groups) => groups.throttles(),
                Hierarchy::V2(groups) => groups.throttles(),
            };
            controller.map_err(Unthrottled::new)?;
            self.try_out(THROTTLED_TRIAL).map_err(Unthrottled::new)
        });
        found.clone().map(|()| &self.disks)
    }

    /// Kills what still runs in the groups and removes the groups with their parent. Dropping does the same.
    pub fn clear(&self) {
        remove_all(&self.parents());
    }

    /// The directories that hold all groups, one per hierarchy.
    pub fn parents(&self) -> Vec<PathBuf> {
        match &self.hierarchy {
            Hierarchy::V1(groups) => groups.parents(),
            Hierarchy::V2(groups) => vec![groups.parent().to_owned()],
        }
    }

    /// `cgroup v1` or `cgroup v2`.
    pub fn version(&self) -> &'static str {
        match self.hierarchy {
            Hierarchy::V1(_) => "cgroup v1",
            Hierarchy::V2(_) => "cgroup v2",
        }
    }

    /// Makes a group.
    ///
    /// # Errors
    /// The system's error, with the path.
    pub fn create(&self, name: &str, bounds: Bounds) -> io::Result<Group> {
        let kind = match &self.hierarchy {
            Hierarchy::V1(groups) => GroupKind::V1(groups.create(name)?),
            Hierarchy::V2(groups) => GroupKind::V2(groups.create(name)?),
        };
        let mut group = Group {
            kind,
            disks: self.disks.clone(),
        };
        group.bound(bounds)?;
        Ok(group)
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Group {
    /// Files to which a thread writes `0` to move itself into the group. Only the first call returns files. If there
    /// are none, use `enter`.
    pub fn entrances(&mut self) -> Vec<OwnedFd> {
        match &mut self.kind {
            GroupKind::V1(group) => group.entrances(),
            GroupKind::V2(_) => Vec::new(),
        }
    }

    /// The group's directories, one per hierarchy.
    pub fn directories(&self) -> Vec<PathBuf> {
        match &self.kind {
            GroupKind::V1(group) => group.directories(),
            GroupKind::V2(group) => vec![group.directory().to_owned()],
        }
    }

    /// Moves a process into the group. Its later children start in the group.
    ///
    /// # Errors
    /// If the process has ended.
    pub fn enter(&self, pid: u32) -> io::Result<()> {
        match &self.kind {
            GroupKind::V1(group) => group.enter(pid),
            GroupKind::V2(group) => group.enter(pid),
        }
    }

    /// Moves a process that used an entrance into the group's `blkio` directory, if the group has one (version 1).
    ///
    /// # Errors
    /// If the process has ended.
    pub fn enter_throttle(&self, pid: u32) -> io::Result<()> {
        match &self.kind {
            GroupKind::V1(group) => group.enter_throttle(pid),
            GroupKind::V2(_) => Ok(()),
        }
    }

    /// Changes the bounds.
    ///
    /// # Errors
    /// The system's error, with the path.
    pub fn bound(&mut self, bounds: Bounds) -> io::Result<()> {
        match &mut self.kind {
            GroupKind::V1(group) => group.bound(bounds, &self.disks),
            GroupKind::V2(group) => group.bound(bounds, &self.disks),
        }
    }

    /// Sets the scheduling priority of the group's processes.
    ///
    /// # Errors
    /// The system's error, with the path.
    pub fn set_cpu_priority(&self, priority: CpuPriority) -> io::Result<()> {
        match &self.kind {
            GroupKind::V1(group) => group.set_cpu_priority(priority),
            GroupKind::V2(group) => group.set_cpu_priority(priority),
        }
    }

    /// Totals since the group was made.
    pub fn usage(&self) -> GroupUsage {
        match &self.kind {
            GroupKind::V1(group) => group.usage(),
            GroupKind::V2(group) => group.usage(),
        }
    }

    /// Bytes of memory charged now.
    pub fn memory(&self) -> u64 {
        match &self.kind {
            GroupKind::V1(group) => group.memory(),
            GroupKind::V2(group) => group.memory(),
        }
    }

    /// Processes and threads in the group now, zombies included.
    pub fn tasks(&self) -> u64 {
        match &self.kind {
            GroupKind::V1(group) => group.tasks(),
            GroupKind::V2(group) => group.tasks(),
        }
    }

    /// Removes the group once its processes are gone; `false` if some are still ending.
    pub fn remove(&self) -> bool {
        match &self.kind {
            GroupKind::V1(group) => group.remove(),
            GroupKind::V2(group) => group.remove(),
        }
    }
}

/// Checks that these groups can limit disk throughput.
///
/// # Errors
/// The reason why they cannot.
pub fn check_rate(rate: Option<u64>, groups: &Result<Groups, NoControlGroups>) -> Result<(), Unthrottled> {
    match (rate, groups) {
        (None, _) => Ok(()),
        (Some(_), Ok(groups)) => groups.throttles().map(drop),
        (Some(_), Err(missing)) => Err(Unthrottled::new(missing)),
    }
}

/// The option of the kernel's command line that exempts kernel memory or socket buffers from accounting.
fn uncounted(boot: &str) -> Option<&str> {
    boot.split_whitespace().find(|word| {
        let options = word.strip_prefix("cgroup.memory=").unwrap_or_default();
        options
            .split(',')
            .any(|option| matches!(option, "nokmem" | "nosocket"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_does_not_count_its_own_memory_is_found() {
        assert_eq!(
            uncounted("ro quiet cgroup.memory=nosocket,nokmem"),
            Some("cgroup.memory=nosocket,nokmem")
        );
        assert_eq!(uncounted("ro cgroup.memory=nobpf nokmem"), None);
    }
}
