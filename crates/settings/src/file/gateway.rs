//! `[gateway]`: limits on programs, sessions and CPU time, for all users and per user, and the upstream servers that
//! users may define.

use std::ops::RangeInclusive;

use super::table::{Value, unknown};

const KEYS: [&str; 10] = [
    "runs",
    "runs_of_user",
    "sessions",
    "sessions_of_user",
    "cpu_seconds_per_minute_of_user",
    "cpu_seconds_per_minute_of_tenant",
    "command_upstreams",
    "sinks",
    "traces",
    "issuers",
];

/// Range of each number.
const MAX: RangeInclusive<u64> = 1..=10_000;

/// Range of CPU seconds per minute.
const MAX_CPU: RangeInclusive<u64> = 1..=100_000;

/// `[gateway]`, for `codeyard serve`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gateway {
    /// Concurrent runs of all users. Further runs wait, and users take turns.
    pub runs: usize,
    /// Concurrent runs of one user.
    pub runs_of_user: usize,
    /// Open sessions of all users. Above this number, the least recently used session is closed.
    pub sessions: usize,
    /// Open sessions of one user, over all virtual servers.
    pub sessions_of_user: usize,
    /// CPU seconds per minute of one user's programs, in sandbox and host; `None` without a limit.
    pub cpu_of_user: Option<u32>,
    /// CPU seconds per minute of one tenant's programs.
    pub cpu_of_tenant: Option<u32>,
    /// Whether unrestricted platform admins may define upstream servers that are commands on this machine.
    pub command_upstreams: bool,
}

impl Default for Gateway {
    fn default() -> Self {
        Self {
            runs: 64,
            runs_of_user: 16,
            sessions: 1000,
            sessions_of_user: 64,
            cpu_of_user: None,
            cpu_of_tenant: None,
            command_upstreams: false,
        }
    }
}

pub(super) fn set(gateway: &mut Gateway, key: &str, value: &Value<'_>) -> Result<(), String> {
    match key {
        "command_upstreams" => {
            gateway.command_upstreams = value.boolean()?;
            return Ok(());
        }
        "cpu_seconds_per_minute_of_user" => {
            gateway.cpu_of_user = cpu(value)?;
            return Ok(());
        }
        "cpu_seconds_per_minute_of_tenant" => {
            gateway.cpu_of_tenant = cpu(value)?;
            return Ok(());
        }
        _ => {}
    }
    let bound = match key {
        "runs" => &mut gateway.runs,
        "runs_of_user" => &mut gateway.runs_of_user,
        "sessions" => &mut gateway.sessions,
        "sessions_of_user" => &mut gateway.sessions_of_user,
        _ => return Err(unknown("key", key, KEYS)),
    };
    *bound = value.written().count(MAX)?;
    Ok(())
}

fn cpu(value: &Value<'_>) -> Result<Option<u32>, String> {
    if value.string() == Ok("off") {
        return Ok(None);
    }
    let seconds = value.written().count(MAX_CPU);
    seconds
        .map(Some)
        .map_err(|wrong| format!("{wrong}; write seconds, or \"off\""))
}
