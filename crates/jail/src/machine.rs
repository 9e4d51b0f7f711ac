//! Features that this machine and user offer, measured instead of guessed.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::process::{Resource, getrlimit};
use rustix::thread::CapabilitySet;

/// Properties that the jail depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Kernel release, such as `6.12.1`.
    pub kernel: String,
    /// Major and minor number of the kernel.
    pub kernel_version: (u32, u32),
    /// Version of Landlock; 0 if unavailable to this process.
    pub landlock: u32,
    /// Why Landlock is unavailable.
    pub no_landlock: Option<Absent>,
    /// Whether the kernel filters system calls.
    pub seccomp: bool,
    /// Whether `/proc` is mounted and shows this process.
    pub proc: bool,
    /// Whether this process may attach files and map their owners, as root may outside of containers.
    pub admin: bool,
    /// Effective user.
    pub user: u32,
    /// Effective group.
    pub group: u32,
    /// As in [`std::env::consts::ARCH`].
    pub architecture: &'static str,
}

/// Why the kernel refuses a system call that supported kernels have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// Not built into the kernel, or a seccomp filter returns the same error.
    NotBuilt,
    /// Built in, but switched off.
    SwitchedOff,
    /// Forbidden to this process.
    Forbidden,
}

impl Machine {
    /// Measures with system calls, because files may be hidden from this process.
    pub fn look() -> Self {
        let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
        let mut numbers = kernel
            .split(|c: char| !c.is_ascii_digit())
            .map(|part| part.parse().unwrap_or(0));
        let landlock = landlock();
        Self {
            kernel_version: (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)),
            kernel,
            landlock: landlock.unwrap_or(0),
            no_landlock: landlock.err(),
            seccomp: seccomp(),
            proc: proc_is_there(),
            admin: rustix::thread::capabilities(None)
                .is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN)),
            user: rustix::process::geteuid().as_raw(),
            group: rustix::process::getegid().as_raw(),
            architecture: std::env::consts::ARCH,
        }
    }
}

/// Limit on this process's open files.
pub fn open_files() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Whether this process's user namespace maps these `count` numbers, as users and as groups.
pub fn has_numbers(first: u32, count: u32) -> bool {
    ["/proc/self/uid_map", "/proc/self/gid_map"]
        .iter()
        .all(|map| std::fs::read_to_string(map).is_ok_and(|map| holds(&map, first, count)))
}

/// Whether one line of a user or group map covers the whole range.
fn holds(map: &str, first: u32, count: u32) -> bool {
    let (first, end) = (u64::from(first), u64::from(first) + u64::from(count));
    map.lines().any(|line| {
        let mut numbers = line
            .split_whitespace()
            .map_while(|number| number.parse::<u64>().ok());
        let (Some(inside), Some(_outside), Some(count)) = (numbers.next(), numbers.next(), numbers.next())
        else {
            return false;
        };
        inside <= first && end <= inside.saturating_add(count)
    })
}

/// Whether the helpers that map a subordinate range exist below this root with the privilege they need.
pub fn has_map_helpers(root: &Path) -> bool {
    ["usr/bin/newuidmap", "usr/bin/newgidmap"]
        .iter()
        .all(|helper| may_map(&root.join(helper)))
}

/// Whether a helper is set-user-id or has a file capability.
fn may_map(helper: &Path) -> bool {
    const SET_USER_ID: u32 = 0o4000;
    let Ok(metadata) = std::fs::metadata(helper) else {
        return false;
    };
    let mut capability = [0; 64];
    metadata.permissions().mode() & SET_USER_ID != 0
        || rustix::fs::getxattr(helper, "security.capability", &mut capability).is_ok()
}

fn landlock() -> Result<u32, Absent> {
    const VERSION: u32 = 1;
    // SAFETY: with this flag the call takes no pointer and changes nothing.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<u8>(),
            0,
            VERSION,
        )
    };
    u32::try_from(version).map_err(|_| match io::Error::last_os_error().raw_os_error() {
        Some(libc::EOPNOTSUPP) => Absent::SwitchedOff,
        Some(libc::ENOSYS) => Absent::NotBuilt,
        _ => Absent::Forbidden,
    })
}

/// Whether seccomp can kill a process, the newest feature that the filters need.
fn seccomp() -> bool {
    let action: u32 = libc::SECCOMP_RET_KILL_PROCESS;
    // SAFETY: the call reads one number through the pointer, which outlives it, and changes nothing.
    let available = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_GET_ACTION_AVAIL,
            0,
            std::ptr::from_ref(&action),
        )
    };
    available == 0
}

/// Whether a proc file system is mounted that shows this process.
fn proc_is_there() -> bool {
    let pid = std::process::id().to_string();
    let kind = rustix::fs::statfs("/proc").map(|found| found.f_type);
    kind.is_ok_and(|kind| kind == rustix::fs::PROC_SUPER_MAGIC)
        && std::fs::read_link("/proc/self").is_ok_and(|link| link.as_os_str() == pid.as_str())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};

    use super::*;

    #[test]
    fn a_map_holds_a_range_or_not() {
        assert!(holds("         0          0 4294967295\n", 1_900_000_000, 4096));
        assert!(!holds("0 1000 1\n1 100000 65536\n", 1_900_000_000, 4096));
        assert!(holds("0 1000 1\n1 100000 65536\n", 60_000, 4096));
        assert!(!holds("0 1000 1\n1 100000 65536\n", 65_000, 4096));
        assert!(!holds("", 1_900_000_000, 4096));
        assert!(!holds("0 word 4294967295\n", 60_000, 4096));
    }

    #[test]
    fn helpers_without_their_right_are_none() {
        let root = tempfile::tempdir().unwrap();
        let programs = root.path().join("usr/bin");
        fs::create_dir_all(&programs).unwrap();
        assert!(!has_map_helpers(root.path()));
        for helper in ["newuidmap", "newgidmap"] {
            fs::write(programs.join(helper), "").unwrap();
        }
        assert!(!has_map_helpers(root.path()));
        for helper in ["newuidmap", "newgidmap"] {
            fs::set_permissions(programs.join(helper), Permissions::from_mode(0o4755)).unwrap();
        }
        assert!(has_map_helpers(root.path()));
    }
}
