//! Checks that this machine has enough memory for the session pool.

use std::path::Path;

use environment::{Diagnostics, Environment};
use sandbox_process::PoolConfig;
use types::units::show_size;

const MIB: u64 = 1024 * 1024;

/// Bytes of a pooled session with numpy and pandas, including kernel memory, rounded up.
const POOLED_SESSION: u64 = 8 * MIB;

/// Kinds of pooled sessions: with and without numpy and pandas.
const PROFILES: u64 = 2;

/// Refuses a pool that needs more than half of the memory.
pub(crate) fn check(pool: &PoolConfig, env: &dyn Environment, diagnostics: &mut Diagnostics) {
    let Some(total) = total(env) else { return };
    let most = total / 2 / (POOLED_SESSION * PROFILES);
    if u64::from(pool.max_idle) > most {
        let needed = show_size(u64::from(pool.max_idle) * POOLED_SESSION * PROFILES);
        diagnostics.mistake(
            "pool.size",
            format!(
                "{} sessions of each kind need about {needed}, more than half of this machine's {} MiB; write at most {most}",
                pool.max_idle,
                total / MIB
            ),
        );
    }
}

/// The machine's memory in bytes; `None` if unknown.
fn total(env: &dyn Environment) -> Option<u64> {
    let bytes = env.read(Path::new("/proc/meminfo")).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}
