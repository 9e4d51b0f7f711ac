//! Control groups of sessions, version 1 or 2: prepared ahead, entered once, removed at the end.
//!
//! All groups of this process lie below one parent named after its lease; what a dead holder of the lease left
//! there is removed first. Inside, the path names the lease and the number of the session, and nothing else of the host.

mod disk;
mod v1;
mod v2;

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

pub use disk::{Disks, Unthrottled, check_rate};

/// Bounds of one group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Bytes of memory, kernel memory and files of tmpfs included.
    pub memory: u64,
    /// Processes and threads.
    pub processes: u32,
    /// Cores.
    pub cpu_rate: f64,
    /// Bytes a second that are read from each disk, and as many that are written.
    pub disk_rate: Option<u64>,
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            memory,
            processes,
            cpu_rate,
            disk_rate,
        } = self;
        write!(f, "{memory} bytes, {processes} processes and {cpu_rate} cores")?;
        match disk_rate {
            Some(rate) => write!(f, ", {rate} bytes a second of each disk"),
            None => Ok(()),
        }
    }
}

/// What a group has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time of everything that was ever in it.
    pub cpu: Duration,
    /// Highest memory in bytes.
    pub peak_memory: u64,
    /// Processes that the kernel killed because of the memory bound.
    pub out_of_memory: u64,
}

/// Why there are no control groups; the text ends with the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message says what it is")]
pub enum Missing {
    #[error("the kernel offers no memory, pids and cpu controllers to this process; {REMEDY}")]
    Controllers,
    #[error("they are left aside on purpose")]
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

/// What a group is tried with before any session relies on one.
const TRIAL: Bounds = Bounds {
    memory: 64 << 20,
    processes: 16,
    cpu_rate: 0.5,
    disk_rate: None,
};

/// What a disk rate is tried with.
const THROTTLED_TRIAL: Bounds = Bounds {
    disk_rate: Some(16 << 20),
    ..TRIAL
};

/// The parent of this process's groups.
#[derive(Debug)]
pub struct Groups {
    kind: Kind,
    disks: Disks,
    /// Whether disk rates bind; found out when the first is asked for.
    throttles: OnceLock<Result<(), Unthrottled>>,
}

#[derive(Debug)]
enum Kind {
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
    /// Finds where groups can be made and makes the parent of the lease `lease`, empty. The same groups may be in reach of
    /// other users and containers with leases of their own, so the name must be no other lease's. Disk rates bind `disks`.
    ///
    /// # Errors
    /// What is missing.
    pub fn prepare(lease: &str, disks: Disks) -> Result<Self, Missing> {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let name = format!("codeyard-{lease}");
        let boot = fs::read_to_string("/proc/cmdline").unwrap_or_default();
        if let Some(uncounted) = uncounted(&boot) {
            return Err(Missing::KernelMemory(uncounted.to_owned()));
        }
        let kind = match v1::Groups::find(&own, &mounts, &name) {
            Some(groups) => Kind::V1(groups?),
            None => Kind::V2(v2::Groups::find(&own, &mounts, &name).ok_or(Missing::Controllers)??),
        };
        let groups = Self {
            kind,
            disks,
            throttles: OnceLock::new(),
        };
        groups.try_out(TRIAL)?;
        Ok(groups)
    }

    /// Makes a group and reads back what it was bound to: a file that can be written need not bind.
    fn try_out(&self, trial: Bounds) -> Result<(), Missing> {
        let failed = |cause: String| Missing::NotBinding {
            path: match &self.kind {
                Kind::V1(groups) => groups.parents()[0].display().to_string(),
                Kind::V2(groups) => groups.parent().display().to_string(),
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

    /// The disks that a disk rate binds.
    ///
    /// # Errors
    /// Why none binds here, with the remedy.
    pub fn throttles(&self) -> Result<&Disks, Unthrottled> {
        let found = self.throttles.get_or_init(|| {
            self.disks.known()?;
            let controller = match &self.kind {
                Kind::V1(groups) => groups.throttles(),
                Kind::V2(groups) => groups.throttles(),
            };
            controller.map_err(Unthrottled::new)?;
            self.try_out(THROTTLED_TRIAL).map_err(Unthrottled::new)
        });
        found.clone().map(|()| &self.disks)
    }

    /// Ends whatever is still in the groups and removes them, with their parent. Dropping does the same.
    pub fn clear(&self) {
        remove_all(&self.parents());
    }

    /// The directories that hold all groups, one in each hierarchy.
    pub fn parents(&self) -> Vec<PathBuf> {
        match &self.kind {
            Kind::V1(groups) => groups.parents(),
            Kind::V2(groups) => vec![groups.parent().to_owned()],
        }
    }

    /// `cgroup v1` or `cgroup v2`.
    pub fn version(&self) -> &'static str {
        match self.kind {
            Kind::V1(_) => "cgroup v1",
            Kind::V2(_) => "cgroup v2",
        }
    }

    /// Makes a group named `name` with these bounds.
    ///
    /// # Errors
    /// The system's, with the path.
    pub fn create(&self, name: &str, bounds: Bounds) -> io::Result<Group> {
        let kind = match &self.kind {
            Kind::V1(groups) => GroupKind::V1(groups.create(name)?),
            Kind::V2(groups) => GroupKind::V2(groups.create(name)?),
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
    /// Files that a thread writes `0` to, to move itself into the group; none where `enter` must be used. They are
    /// handed out once.
    pub fn entrances(&mut self) -> Vec<OwnedFd> {
        match &mut self.kind {
            GroupKind::V1(group) => group.entrances(),
            GroupKind::V2(_) => Vec::new(),
        }
    }

    /// Its directories, one in each hierarchy.
    pub fn directories(&self) -> Vec<PathBuf> {
        match &self.kind {
            GroupKind::V1(group) => group.directories(),
            GroupKind::V2(group) => vec![group.directory().to_owned()],
        }
    }

    /// Moves a process into the group; what it starts later is in it from the beginning.
    ///
    /// # Errors
    /// If the process is gone.
    pub fn enter(&self, pid: u32) -> io::Result<()> {
        match &self.kind {
            GroupKind::V1(group) => group.enter(pid),
            GroupKind::V2(group) => group.enter(pid),
        }
    }

    /// Moves a process that came by the entrances into what binds its disk rate, if anything does.
    ///
    /// # Errors
    /// If the process is gone.
    pub fn enter_throttle(&self, pid: u32) -> io::Result<()> {
        match &self.kind {
            GroupKind::V1(group) => group.enter_throttle(pid),
            GroupKind::V2(_) => Ok(()),
        }
    }

    /// Changes the bounds.
    ///
    /// # Errors
    /// The system's, with the path.
    pub fn bound(&mut self, bounds: Bounds) -> io::Result<()> {
        match &mut self.kind {
            GroupKind::V1(group) => group.bound(bounds, &self.disks),
            GroupKind::V2(group) => group.bound(bounds, &self.disks),
        }
    }

    /// Lets the groups beside it have the processors first, or takes that back.
    ///
    /// # Errors
    /// The system's, with the path.
    pub fn yield_cpu(&self, yields: bool) -> io::Result<()> {
        match &self.kind {
            GroupKind::V1(group) => group.yield_cpu(yields),
            GroupKind::V2(group) => group.yield_cpu(yields),
        }
    }

    /// What it has used so far.
    pub fn usage(&self) -> Usage {
        match &self.kind {
            GroupKind::V1(group) => group.usage(),
            GroupKind::V2(group) => group.usage(),
        }
    }

    /// Bytes of memory that it is charged for now.
    pub fn memory(&self) -> u64 {
        match &self.kind {
            GroupKind::V1(group) => group.memory(),
            GroupKind::V2(group) => group.memory(),
        }
    }

    /// Processes and threads in it now, those that have ended and were not waited for included.
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

/// Writes a setting of a group; the error names the file.
fn set(directory: &Path, file: &str, value: &str) -> io::Result<()> {
    let path = directory.join(file);
    fs::write(&path, value)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// Lets the groups beside this one go first: all of their processes preempt its own at once. Kernels before 5.15 know only
/// the `weight`, with its least value and its usual one.
fn yield_cpu(directory: &Path, yields: bool, weight: (&str, u32, u32)) -> io::Result<()> {
    let (file, least, usual) = weight;
    match set(directory, "cpu.idle", if yields { "1" } else { "0" }) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            set(directory, file, &if yields { least } else { usual }.to_string())
        }
        done => done,
    }
}

/// A file of a group, kept open: reading it again costs a microsecond, opening it ten.
#[derive(Debug)]
struct Counter(Option<File>);

impl Counter {
    fn open(directory: &Path, file: &str) -> Self {
        Self(File::open(directory.join(file)).ok())
    }

    /// The number that the file holds; 0 if it cannot be read.
    fn number(&self) -> u64 {
        self.read(|text| text.trim().parse().ok())
    }

    /// The first number of the file, which may have others or a fraction; 0 if it cannot be read.
    fn float(&self) -> f64 {
        self.read(|text| text.split_whitespace().next()?.parse().ok())
    }

    /// The number after `key` in a file of `key number` lines; 0 if it is not there.
    fn keyed(&self, key: &str) -> u64 {
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

/// Makes a directory; one that exists already is emptied of groups that a dead process left.
fn make_empty(directory: &Path) -> Result<(), Missing> {
    clear(directory);
    let made = match fs::create_dir(directory) {
        // Another user's, if it cannot be written: slots are numbered by each user for itself.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            rustix::fs::access(directory, rustix::fs::Access::WRITE_OK).map_err(io::Error::from)
        }
        made => made,
    };
    made.map_err(|error| Missing::NotWritable {
        path: directory.display().to_string(),
        cause: error.to_string(),
    })
}

/// Removes the directories of one group, and their parents if they held the last one. Nobody but the caller uses them any more.
pub(crate) fn remove_orphaned(directories: &[PathBuf]) {
    for directory in directories {
        remove_patiently(directory);
        if let Some(parent) = directory.parent() {
            // It goes with its last group; with others in it the kernel refuses.
            let _ = fs::remove_dir(parent);
        }
    }
}

/// Removes parents with all their groups. What takes too long to end stays until the next start.
pub(crate) fn remove_all(parents: &[PathBuf]) {
    for parent in parents {
        clear(parent);
        remove_patiently(parent);
    }
}

/// Kills what is left in the groups below `directory` and removes them.
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

/// Removes a group whose last process may still be ending; one that takes too long stays until the next start.
fn remove_patiently(directory: &Path) {
    const ATTEMPTS: u32 = 100;
    const PAUSE: Duration = Duration::from_millis(5);
    for _ in 0..ATTEMPTS {
        match fs::remove_dir(directory) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => std::thread::sleep(PAUSE),
            _ => return,
        }
    }
}

/// Kills a leftover process of a dead codeyard: its session's processes die with their zygote, so this is rare.
fn kill(pid: &str) {
    if let Some(pid) = pid.parse().ok().and_then(rustix::process::Pid::from_raw) {
        // It may just have ended.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

/// The word of the kernel's command line that keeps kernel memory or socket buffers out of all counts.
fn uncounted(boot: &str) -> Option<&str> {
    boot.split_whitespace().find(|word| {
        let options = word.strip_prefix("cgroup.memory=").unwrap_or_default();
        options
            .split(',')
            .any(|option| matches!(option, "nokmem" | "nosocket"))
    })
}

/// Cores of a quota that was read back.
fn cores(quota: f64) -> f64 {
    quota / f64::from(CPU_PERIOD)
}

/// The directory of this process's group in the hierarchy with `controller` (version 1) or the unified one (`None`).
fn own_directory(own: &str, mounts: &str, controller: Option<&str>) -> Option<PathBuf> {
    let path = own_path(own, controller)?;
    let (root, point) = mount(mounts, controller)?;
    // A container sees a part of the hierarchy, while the kernel may name the group as the host does.
    let below = Path::new(path).strip_prefix(root).ok()?;
    Some(point.join(below))
}

/// Which part of a hierarchy is mounted where.
fn mount<'a>(mounts: &'a str, controller: Option<&str>) -> Option<(&'a str, PathBuf)> {
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

/// Path of this process's group in that hierarchy.
fn own_path<'a>(own: &'a str, controller: Option<&str>) -> Option<&'a str> {
    own.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_id, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let matches = match controller {
            Some(controller) => controllers.split(',').any(|name| name == controller),
            None => controllers.is_empty(),
        };
        matches.then_some(path)
    })
}

/// Period of CPU bandwidth in microseconds, the kernel's default.
const CPU_PERIOD: u32 = 100_000;

/// CPU time in microseconds per period.
fn quota(cores: f64) -> String {
    let micros = Duration::from_micros(u64::from(CPU_PERIOD))
        .mul_f64(cores.clamp(0.01, 4096.0))
        .as_micros();
    micros.max(1_000).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hierarchies_are_found_by_controller() {
        let mounts = "30 25 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
                      31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
                      32 25 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw";
        let own = "4:memory:/a/b\n3:cpu,cpuacct:/\n0::/user.slice";
        let check = |controller, expected: Option<&str>| {
            let found = own_directory(own, mounts, controller);
            assert_eq!(found, expected.map(PathBuf::from));
        };
        check(Some("memory"), Some("/sys/fs/cgroup/memory/a/b"));
        check(Some("cpuacct"), Some("/sys/fs/cgroup/cpu,cpuacct"));
        check(None, Some("/sys/fs/cgroup/unified/user.slice"));
        check(Some("pids"), None);
    }

    #[test]
    fn a_container_sees_its_part_of_a_hierarchy() {
        let check = |root: &str, own: &str, expected: Option<&str>| {
            let mounts = format!("30 25 0:26 {root} /sys/fs/cgroup rw - cgroup2 cgroup2 rw");
            let found = own_directory(&format!("0::{own}"), &mounts, None);
            assert_eq!(found, expected.map(PathBuf::from));
        };
        check("/pod", "/pod", Some("/sys/fs/cgroup"));
        check("/pod", "/pod/inner", Some("/sys/fs/cgroup/inner"));
        check("/", "/", Some("/sys/fs/cgroup"));
        // Where the group is outside of what is mounted, there is none to use.
        check("/pod", "/other", None);
        check("/pod", "/podium", None);
    }

    #[test]
    fn a_kernel_that_does_not_count_its_own_memory_is_found() {
        assert_eq!(
            uncounted("ro quiet cgroup.memory=nosocket,nokmem"),
            Some("cgroup.memory=nosocket,nokmem")
        );
        assert_eq!(uncounted("ro cgroup.memory=nobpf nokmem"), None);
    }

    #[test]
    fn quotas_are_microseconds_of_a_period() {
        assert_eq!(quota(1.0), "100000");
        assert_eq!(quota(0.5), "50000");
        assert_eq!(quota(0.0), "1000");
    }
}
