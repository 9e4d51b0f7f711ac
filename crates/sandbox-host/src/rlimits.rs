//! Converts a session's limits to resource limits of its processes.

use jail::session::wire;
use rustix::process::{Resource, getrlimit};
use types::Limits;

/// Bytes of the first thread's stack.
const STACK: u64 = 8 << 20;
/// Bytes of a core dump. With 0 the kernel would still run the host's core dump handler.
const CORE: u64 = 1;
/// Bytes of locked memory, for libraries that need a little.
const LOCKED: u64 = 64 << 10;
const SIGNALS: u64 = 512;

/// The values in the order of `wire::RLIMITS`, each at most this process's own maximum. `address_space` is the
/// session's size in bytes before its first program; `processes` is the limit per user.
pub fn of(limits: &Limits, address_space: u64, processes: u32) -> [u64; wire::RLIMITS.len()] {
    let wanted = [
        (Resource::Cpu, u64::MAX),
        (Resource::Fsize, limits.file_size),
        (Resource::Stack, STACK),
        (Resource::Core, CORE),
        (Resource::Rss, u64::MAX),
        (Resource::Nproc, u64::from(processes)),
        (Resource::Nofile, u64::from(limits.open_files)),
        (Resource::Memlock, LOCKED),
        (Resource::As, address_space.saturating_add(limits.memory)),
        (Resource::Sigpending, SIGNALS),
        (Resource::Msgqueue, 0),
        (Resource::Nice, 0),
    ];
    wanted.map(|(resource, value)| value.min(getrlimit(resource).maximum.unwrap_or(u64::MAX)))
}
