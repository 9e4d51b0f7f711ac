//! Entry code and system call numbers of x86_64.

use core::arch::asm;

/// Enters the kernel with up to six arguments; returns its result, negative for an error.
///
/// # Safety
/// The arguments must be valid for that system call.
#[inline(always)]
pub unsafe fn syscall6(number: usize, arguments: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the kernel clobbers rax, rcx and r11 only; the caller vouches for the arguments.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number.cast_signed() => result,
            in("rdi") arguments[0],
            in("rsi") arguments[1],
            in("rdx") arguments[2],
            in("r10") arguments[3],
            in("r8") arguments[4],
            in("r9") arguments[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

pub mod number {
    pub const WRITE: usize = 1;
    pub const CLOSE: usize = 3;
    pub const RT_SIGACTION: usize = 13;
    pub const SENDMSG: usize = 46;
    pub const RECVMSG: usize = 47;
    pub const CHDIR: usize = 80;
    pub const MKDIR: usize = 83;
    pub const SETSID: usize = 112;
    pub const SETGROUPS: usize = 116;
    pub const SETRESUID: usize = 117;
    pub const SETRESGID: usize = 119;
    pub const CAPSET: usize = 126;
    pub const PRCTL: usize = 157;
    pub const MOUNT: usize = 165;
    pub const SETHOSTNAME: usize = 170;
    pub const EXIT_GROUP: usize = 231;
    pub const OPENAT: usize = 257;
    pub const UNSHARE: usize = 272;
    pub const DUP3: usize = 292;
    pub const PRLIMIT64: usize = 302;
    pub const SETNS: usize = 308;
    pub const SECCOMP: usize = 317;
    pub const CLONE3: usize = 435;
    pub const CLOSE_RANGE: usize = 436;
    pub const LANDLOCK_CREATE_RULESET: usize = 444;
    pub const LANDLOCK_ADD_RULE: usize = 445;
    pub const LANDLOCK_RESTRICT_SELF: usize = 446;
}
