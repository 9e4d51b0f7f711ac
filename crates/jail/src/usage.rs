//! Resource usage of this process, for a guest without `/proc`.

use std::time::Duration;

/// Usage since the start of the process.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usage {
    /// CPU time in user mode.
    pub user: Duration,
    /// CPU time in the kernel.
    pub system: Duration,
    /// Highest memory in bytes.
    pub peak_memory: u64,
}

/// The usage of all threads of this process.
pub fn usage() -> Usage {
    const KIB: u64 = 1024;
    // SAFETY: all bytes zero is a valid `rusage`.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one `rusage` to this place.
    if unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut used) } != 0 {
        return Usage::default();
    }
    let time = |time: libc::timeval| {
        let microseconds = u64::try_from(time.tv_usec).unwrap_or(0);
        Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0)) + Duration::from_micros(microseconds)
    };
    Usage {
        user: time(used.ru_utime),
        system: time(used.ru_stime),
        peak_memory: u64::try_from(used.ru_maxrss).unwrap_or(0) * KIB,
    }
}
