//! `[pool]` and `[sessions]`: number of pooled sessions, and lifetime of idle sessions.

use std::ops::RangeInclusive;
use std::time::Duration;

use sandbox_process::PoolConfig;

use super::table::{Value, unknown};

const MIB: u64 = 1024 * 1024;

/// Starting a larger pool takes longer than a burst of clients lasts.
const POOL_SIZE: RangeInclusive<u64> = 0..=256;
/// With less, replacing zygotes costs more than it saves.
const RECYCLE_SESSIONS: RangeInclusive<u64> = 10..=10_000_000;
const RECYCLE_MINUTES: RangeInclusive<u64> = 1..=100_000;
const MAX_SESSIONS: RangeInclusive<u64> = 1..=10_000;
const IDLE_MINUTES: RangeInclusive<u64> = 1..=100_000;
/// In bytes. A session with numpy and pandas holds a few MiB.
const IDLE_MEMORY: RangeInclusive<u64> = 16 * MIB..=1024 * 1024 * MIB;

/// `[sessions]`: limits of one principal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sessions {
    /// Open sessions.
    pub max: usize,
    /// Time until an idle session is closed.
    pub idle_time: Duration,
    /// Bytes of memory of all idle sessions together.
    pub idle_memory: u64,
}

impl Default for Sessions {
    fn default() -> Self {
        let session::SessionsConfig {
            max_sessions,
            idle_time,
            idle_memory,
            ..
        } = session::SessionsConfig::default();
        Self {
            max: max_sessions,
            idle_time,
            idle_memory,
        }
    }
}

pub(super) fn set(sessions: &mut Sessions, key: &str, value: &Value<'_>) -> Result<(), String> {
    match key {
        "max" => sessions.max = value.written().count(MAX_SESSIONS)?,
        "idle_minutes" => sessions.idle_time = minutes(value, IDLE_MINUTES)?,
        "idle_memory" => sessions.idle_memory = value.written().size(IDLE_MEMORY)?,
        _ => return Err(unknown("key", key, ["max", "idle_minutes", "idle_memory"])),
    }
    Ok(())
}

pub(super) fn set_pool(pool: &mut PoolConfig, key: &str, value: &Value<'_>) -> Result<(), String> {
    match key {
        "size" => pool.max_idle = value.written().count(POOL_SIZE)?,
        "recycle_sessions" => pool.renew_sessions = value.written().count(RECYCLE_SESSIONS)?,
        "recycle_minutes" => pool.renew_after = minutes(value, RECYCLE_MINUTES)?,
        _ => {
            return Err(unknown(
                "key",
                key,
                ["size", "recycle_sessions", "recycle_minutes"],
            ));
        }
    }
    Ok(())
}

fn minutes(value: &Value<'_>, range: RangeInclusive<u64>) -> Result<Duration, String> {
    let minutes: u64 = value.written().count(range)?;
    Ok(Duration::from_secs(minutes * 60))
}
