//! `[gateway]`: how many programs run and sessions are open, in all and of one user, and how much CPU time they take;
//! which upstream servers users may define.

use std::ops::RangeInclusive;

use super::table::{Value, unknown};

const KEYS: [&str; 8] = [
    "runs",
    "runs_of_user",
    "sessions",
    "sessions_of_user",
    "cpu_seconds_per_minute_of_user",
    "cpu_seconds_per_minute_of_tenant",
    "command_upstreams",
    "sinks",
];

/// Of each number.
const MAX: RangeInclusive<u64> = 1..=10_000;

/// Of CPU seconds in a minute.
const MAX_CPU: RangeInclusive<u64> = 1..=100_000;

/// `[gateway]`, for `codeyard serve`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gateway {
    /// Runs of all users at once; further ones wait, and users take turns.
    pub runs: usize,
    /// Runs of one user at once.
    pub runs_of_user: usize,
    /// Open sessions of all users; above it, the one that was unused longest is closed.
    pub sessions: usize,
    /// Open sessions of one user, over all virtual servers.
    pub sessions_of_user: usize,
    /// CPU seconds that programs of one user may use in a minute, in the sandbox and of the host; `None` for any number.
    pub cpu_of_user: Option<u32>,
    /// The same for all users of one tenant.
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
