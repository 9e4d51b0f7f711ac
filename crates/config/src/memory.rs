//! Whether this machine has the memory for the sessions that are to stand ready.

use std::path::Path;

use sandbox_process::PoolConfig;
use types::units::show_size;

use crate::host::Host;
use crate::mistakes::Findings;

const MIB: u64 = 1024 * 1024;

/// What one session that stands ready with numpy and pandas loaded holds for itself, with its kernel's part, rounded up.
const READY_SESSION: u64 = 8 * MIB;

/// Kinds of sessions that stand ready: with and without numpy and pandas.
const PROFILES: u64 = 2;

/// Refuses a pool that would fill half of the memory.
pub(crate) fn check(pool: &PoolConfig, host: &dyn Host, findings: &mut Findings) {
    let Some(total) = total(host) else { return };
    let most = total / 2 / (READY_SESSION * PROFILES);
    if u64::from(pool.max_idle) > most {
        let needed = show_size(u64::from(pool.max_idle) * READY_SESSION * PROFILES);
        findings.mistake(
            "pool.size",
            format!(
                "{} sessions of each kind need about {needed}, more than half of this machine's {} MiB; write at most {most}",
                pool.max_idle,
                total / MIB
            ),
        );
    }
}

/// All memory of the machine in bytes; `None` if it does not say.
fn total(host: &dyn Host) -> Option<u64> {
    let bytes = host.read(Path::new("/proc/meminfo")).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}
