//! What this machine and user offer, measured and not guessed.

use std::fs;

/// What the jail depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Kernel release, such as `6.12.1`.
    pub kernel: String,
    /// Major and minor number of the kernel.
    pub kernel_version: (u32, u32),
    /// Version of Landlock; 0 if the kernel has none.
    pub landlock: u32,
    /// Whether the kernel filters system calls.
    pub seccomp: bool,
    /// Effective user.
    pub user: u32,
    /// Effective group.
    pub group: u32,
    /// Name of the processor's architecture.
    pub architecture: &'static str,
}

impl Machine {
    /// Asks the kernel.
    pub fn look() -> Self {
        let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
        let mut numbers = kernel
            .split(|c: char| !c.is_ascii_digit())
            .map(|part| part.parse().unwrap_or(0));
        Self {
            kernel_version: (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)),
            kernel,
            landlock: landlock(),
            seccomp: fs::read_to_string("/proc/self/status")
                .is_ok_and(|status| status.contains("\nSeccomp:")),
            user: rustix::process::geteuid().as_raw(),
            group: rustix::process::getegid().as_raw(),
            architecture: std::env::consts::ARCH,
        }
    }
}

/// Version of Landlock in this kernel, 0 without it.
fn landlock() -> u32 {
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
    u32::try_from(version).unwrap_or(0)
}
