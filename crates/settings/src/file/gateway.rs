//! `[gateway]`: how many programs run at once, and whose.

use std::ops::RangeInclusive;

use super::table::{Value, unknown};

const MAX_RUNS: RangeInclusive<u64> = 1..=10_000;

/// `[gateway]`, for `codeyard serve`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gateway {
    /// Runs of all users at once; further ones wait, and users take turns.
    pub runs: usize,
    /// Runs of one user at once.
    pub runs_of_user: usize,
}

impl Default for Gateway {
    fn default() -> Self {
        Self {
            runs: 64,
            runs_of_user: 16,
        }
    }
}

pub(super) fn set(gateway: &mut Gateway, key: &str, value: &Value<'_>) -> Result<(), String> {
    match key {
        "runs" => gateway.runs = value.written().count(MAX_RUNS)?,
        "runs_of_user" => gateway.runs_of_user = value.written().count(MAX_RUNS)?,
        _ => return Err(unknown("key", key, ["runs", "runs_of_user"])),
    }
    Ok(())
}
