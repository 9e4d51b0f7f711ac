//! Resource limits of a session's processes, from its limits.

use jail::session::wire;
use rustix::process::{Resource, getrlimit};
use types::Limits;

/// Largest stack of the first thread.
const STACK: u64 = 8 << 20;
/// A core dump of at most one byte: 0 would still run a handler that the host pipes dumps to.
const CORE: u64 = 1;
/// Locked memory, a little for libraries that insist.
const LOCKED: u64 = 64 << 10;
/// Signals queued.
const SIGNALS: u64 = 512;

/// Values in the order of `wire::RLIMITS`; none above what this process may give. `begins_with` are the bytes of address
/// space that a session has before its first program, `processes` how many its user may have.
pub fn of(limits: &Limits, begins_with: u64, processes: u32) -> [u64; wire::RLIMITS.len()] {
    let wanted = [
        (Resource::Cpu, u64::MAX),
        (Resource::Fsize, limits.file_size),
        (Resource::Stack, STACK),
        (Resource::Core, CORE),
        (Resource::Rss, u64::MAX),
        (Resource::Nproc, u64::from(processes)),
        (Resource::Nofile, u64::from(limits.open_files)),
        (Resource::Memlock, LOCKED),
        (Resource::As, begins_with.saturating_add(limits.memory)),
        (Resource::Sigpending, SIGNALS),
        (Resource::Msgqueue, 0),
        (Resource::Nice, 0),
    ];
    wanted.map(|(resource, value)| value.min(getrlimit(resource).maximum.unwrap_or(u64::MAX)))
}
