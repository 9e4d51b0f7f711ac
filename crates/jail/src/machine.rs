//! What this machine and user offer, measured and not guessed.

use std::io;

use rustix::process::{Resource, getrlimit};
use rustix::thread::CapabilitySet;

/// What the jail depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Kernel release, such as `6.12.1`.
    pub kernel: String,
    /// Major and minor number of the kernel.
    pub kernel_version: (u32, u32),
    /// Version of Landlock; 0 if this process can have none.
    pub landlock: u32,
    /// Why there is no Landlock, where there is none.
    pub no_landlock: Option<Absent>,
    /// Whether the kernel filters system calls.
    pub seccomp: bool,
    /// Whether `/proc` is there and shows this process.
    pub proc: bool,
    /// Whether this process may attach files and map their owners, as root may outside of containers.
    pub admin: bool,
    /// Effective user.
    pub user: u32,
    /// Effective group.
    pub group: u32,
    /// Name of the processor's architecture.
    pub architecture: &'static str,
}

/// Why the kernel refuses a call that it should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// It is not built in, or a filter pretends so.
    NotBuilt,
    /// It is built in and switched off.
    SwitchedOff,
    /// Something forbids it to this process.
    Forbidden,
}

impl Machine {
    /// Asks the kernel, by calls and not by files, which may be hidden.
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

/// How many files this process may have open.
pub fn open_files() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Version of Landlock in this kernel.
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

/// Whether filters of system calls can kill a process, which is the youngest thing that is asked of them.
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

/// Whether a process file system is mounted there that knows this process.
fn proc_is_there() -> bool {
    let own = std::process::id().to_string();
    let kind = rustix::fs::statfs("/proc").map(|found| found.f_type);
    kind.is_ok_and(|kind| kind == rustix::fs::PROC_SUPER_MAGIC)
        && std::fs::read_link("/proc/self").is_ok_and(|link| link.as_os_str() == own.as_str())
}
