//! Converts a session's limits to resource limits of its processes.

use jail::session::wire;
use rustix::process::{Resource, getrlimit};
use types::Limits;

/// Bytes of the first thread's stack.
const STACK: u64 = 8 << 20;
/// Limit of a core dump in bytes. At 1 the kernel skips a piped core dump handler; at 0 it would still start the
/// host's handler.
const CORE: u64 = 1;
/// Bytes of locked memory, for libraries that need a little.
const LOCKED: u64 = 64 << 10;
/// Queued signals.
const SIGNALS: u64 = 512;

/// The values in the order of `wire::RLIMITS`, each at most this process's hard limit. `address_space` is the address
/// space in bytes with which each session starts, such as the zygote's; `limits.memory` is added. `processes` is the
/// limit per user.
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
