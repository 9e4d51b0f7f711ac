//! Directories and files of control groups: find, make, read, write and remove them.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::bounds::CpuPriority;

/// Why there are no control groups; the text ends with the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message says what it is")]
pub enum NoControlGroups {
    #[error("the kernel offers no memory, pids and cpu controllers to this process; {REMEDY}")]
    Controllers,
    #[error("they are switched off on purpose")]
    NotWanted,
    #[error("{path} is not writable ({cause}); {REMEDY}")]
    NotWritable { path: String, cause: String },
    #[error("{path} does not bind: {cause}; {REMEDY}")]
    NotBinding { path: String, cause: String },
    #[error(
        "the kernel does not count its own memory ({0} on its command line), so memory is not bound; boot without it"
    )]
    KernelMemory(String),
}

const REMEDY: &str = "run as root or, where systemd has the groups, under `systemd-run --user --scope -p Delegate=yes` (as root \
     without --user), for hard limits";

pub(super) fn set(directory: &Path, file: &str, value: &str) -> io::Result<()> {
    let path = directory.join(file);
    fs::write(&path, value)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// Sets `cpu.idle`: processes of sibling groups preempt the processes of an idle group at once. Kernels before 5.15
/// have only a weight. The caller passes the weight's file, least value and usual value.
pub(super) fn set_cpu_priority(
    directory: &Path,
    priority: CpuPriority,
    (file, least, usual): (&str, u32, u32),
) -> io::Result<()> {
    let (idle, weight) = match priority {
        CpuPriority::Normal => ("0", usual),
        CpuPriority::Idle => ("1", least),
    };
    match set(directory, "cpu.idle", idle) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => set(directory, file, &weight.to_string()),
        done => done,
    }
}

/// A file of a group, kept open: rereading costs 1 µs, opening 10 µs.
#[derive(Debug)]
pub(super) struct Counter(Option<File>);

impl Counter {
    pub(super) fn open(directory: &Path, file: &str) -> Self {
        Self(File::open(directory.join(file)).ok())
    }

    /// The number in the file; 0 if it cannot be read.
    pub(super) fn number(&self) -> u64 {
        self.read(|text| text.trim().parse().ok())
    }

    /// The first number in the file, fractions allowed; 0 if it cannot be read.
    pub(super) fn float(&self) -> f64 {
        self.read(|text| text.split_whitespace().next()?.parse().ok())
    }

    /// The number after `key` in a file of `key number` lines; 0 if missing.
    pub(super) fn keyed(&self, key: &str) -> u64 {
        let value = |line: &str| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok();
        self.read(|text| text.lines().find_map(value))
    }

    fn read<T: Default>(&self, parse: impl FnOnce(&str) -> Option<T>) -> T {
        let mut buffer = [0; 4096];
        let length = self
            .0
            .as_ref()
            .and_then(|file| file.read_at(&mut buffer, 0).ok())
            .unwrap_or(0);
        buffer
            .get(..length)
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .and_then(parse)
            .unwrap_or_default()
    }
}

/// Makes a directory. If the directory exists, removes the groups that a dead process left in it.
pub(super) fn make_empty(directory: &Path) -> Result<(), NoControlGroups> {
    clear(directory);
    let made = match fs::create_dir(directory) {
        // An unwritable directory belongs to another user, because each user numbers slots from 0.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            rustix::fs::access(directory, rustix::fs::Access::WRITE_OK).map_err(io::Error::from)
        }
        made => made,
    };
    made.map_err(|error| NoControlGroups::NotWritable {
        path: directory.display().to_string(),
        cause: error.to_string(),
    })
}

/// Removes the directories of one group, and each parent that held no other group. No other process may use these
/// directories.
pub(crate) fn remove_orphaned(directories: &[PathBuf]) {
    for directory in directories {
        remove_patiently(directory);
        if let Some(parent) = directory.parent() {
            // The kernel refuses while the parent has other groups.
            let _ = fs::remove_dir(parent);
        }
    }
}

/// Removes parents with all their groups. Groups whose processes take too long to end stay until the next start.
pub(crate) fn remove_all(parents: &[PathBuf]) {
    for parent in parents {
        clear(parent);
        remove_patiently(parent);
    }
}

fn clear(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for child in entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
    {
        clear(&child);
        for pid in fs::read_to_string(child.join("cgroup.procs"))
            .unwrap_or_default()
            .lines()
        {
            kill(pid);
        }
        remove_patiently(&child);
    }
}

/// Removes a group whose last process may still be ending. After 2 s, which a busy machine may need, the group stays until
/// the next start.
fn remove_patiently(directory: &Path) {
    const ATTEMPTS: u32 = 400;
    const PAUSE: Duration = Duration::from_millis(5);
    for _ in 0..ATTEMPTS {
        match fs::remove_dir(directory) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => std::thread::sleep(PAUSE),
            _ => return,
        }
    }
}

/// Kills a leftover process of a dead codeyard. This is rare: a session's processes die with their zygote.
fn kill(pid: &str) {
    if let Some(pid) = pid.parse().ok().and_then(rustix::process::Pid::from_raw) {
        // It may have just ended.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

/// The directory of this process's group in the hierarchy with `controller` (version 1), or the unified one (`None`).
pub(super) fn own_directory(membership: &str, mounts: &str, controller: Option<&str>) -> Option<PathBuf> {
    let path = own_path(membership, controller)?;
    let (root, point) = mount(mounts, controller)?;
    // A container sees part of the hierarchy, while the kernel may report the group's path as on the host.
    let below = Path::new(path).strip_prefix(root).ok()?;
    Some(point.join(below))
}

/// The mounted part of a hierarchy and its mount point.
pub(super) fn mount<'a>(mounts: &'a str, controller: Option<&str>) -> Option<(&'a str, PathBuf)> {
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut after = after.split(' ');
        let (kind, _source, options) = (after.next()?, after.next()?, after.next()?);
        let matches = match controller {
            Some(controller) => kind == "cgroup" && options.split(',').any(|option| option == controller),
            None => kind == "cgroup2",
        };
        let mut before = before.split(' ').skip(3);
        let (root, point) = (before.next()?, before.next()?);
        matches.then(|| (root, PathBuf::from(point)))
    })
}

fn own_path<'a>(membership: &'a str, controller: Option<&str>) -> Option<&'a str> {
    membership.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_id, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let matches = match controller {
            Some(controller) => controllers.split(',').any(|name| name == controller),
            None => controllers.is_empty(),
        };
        matches.then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hierarchies_are_found_by_controller() {
        let mounts = "30 25 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
                      31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
                      32 25 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw";
        let membership = "4:memory:/a/b\n3:cpu,cpuacct:/\n0::/user.slice";
        let check = |controller, expected: Option<&str>| {
            let found = own_directory(membership, mounts, controller);
            assert_eq!(found, expected.map(PathBuf::from));
        };
        check(Some("memory"), Some("/sys/fs/cgroup/memory/a/b"));
        check(Some("cpuacct"), Some("/sys/fs/cgroup/cpu,cpuacct"));
        check(None, Some("/sys/fs/cgroup/unified/user.slice"));
        check(Some("pids"), None);
    }

    #[test]
    fn a_container_sees_its_part_of_a_hierarchy() {
        let check = |root: &str, membership: &str, expected: Option<&str>| {
            let mounts = format!("30 25 0:26 {root} /sys/fs/cgroup rw - cgroup2 cgroup2 rw");
            let found = own_directory(&format!("0::{membership}"), &mounts, None);
            assert_eq!(found, expected.map(PathBuf::from));
        };
        check("/pod", "/pod", Some("/sys/fs/cgroup"));
        check("/pod", "/pod/inner", Some("/sys/fs/cgroup/inner"));
        check("/", "/", Some("/sys/fs/cgroup"));
        // The group is outside the mounted part of the hierarchy.
        check("/pod", "/other", None);
        check("/pod", "/podium", None);
    }
}
