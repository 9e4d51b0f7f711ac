//! Parses the bridge's variables.
//!
//! Each error names the expected form.

use std::path::PathBuf;
use std::time::Duration;

use environment::{Environment, absolute};
use types::Limits;

use super::OutputMode;

const MIB: u64 = 1024 * 1024;
const GIB: u64 = 1024 * MIB;

/// As in the settings: enough for an interpreter with numpy and pandas.
const LEAST_MEMORY: u64 = 64 * MIB;
const MOST_MEMORY: u64 = 1024 * GIB;
/// As in the settings: from an interpreter with its children to a full pid namespace.
const LEAST_PROCESSES: u32 = 4;
const MOST_PROCESSES: u32 = 32_768;
const LEAST_CPUS: f64 = 0.01;
const MOST_CPUS: f64 = 1024.0;
/// The kernel reserves the largest number.
const MOST_USERS: u32 = u32::MAX - 1;
const LONGEST_IDLE: Duration = Duration::from_secs(100_000 * 60);

/// A message with the value and the expected form.
type Refused = String;

/// Reads `30`, `30s`, `500ms` or `2m`.
pub(super) fn duration(text: &str) -> Result<Duration, Refused> {
    let wrong = || {
        format!(
            "`{text}` is not a duration; write whole seconds, or a whole number with `ms`, `s` or `m`, such as `30s`"
        )
    };
    let (number, unit) = split(text).ok_or_else(wrong)?;
    let ms = match unit {
        "ms" => 1,
        "" | "s" => 1000,
        "m" => 60 * 1000,
        _ => return Err(wrong()),
    };
    number
        .checked_mul(ms)
        .map(Duration::from_millis)
        .ok_or_else(wrong)
}

/// Reads a run's wall time without rounding.
pub(super) fn timeout(text: &str) -> Result<Duration, Refused> {
    let timeout = duration(text)?;
    let most = Limits::MAX_WALL_TIME;
    if timeout.is_zero() || timeout > most {
        return Err(format!(
            "`{text}` is out of range; write `1s` to `{}s`",
            most.as_secs()
        ));
    }
    Ok(timeout)
}

/// Reads a session's idle time; zero means for ever.
pub(super) fn idle_time(text: &str) -> Result<Duration, Refused> {
    let time = duration(text)?;
    if time > LONGEST_IDLE {
        let most = LONGEST_IDLE.as_secs() / 60;
        return Err(format!(
            "`{text}` is out of range; write `1s` to `{most}m`, or `0` for ever"
        ));
    }
    Ok(time)
}

pub(super) fn whole_seconds(duration: Duration) -> Duration {
    let more = u64::from(duration.subsec_nanos() > 0);
    Duration::from_secs(duration.as_secs().saturating_add(more))
}

/// Reads `512m`, `1g` or a number of bytes, as container engines do.
pub(super) fn memory(text: &str) -> Result<u64, Refused> {
    let wrong = || {
        format!("`{text}` is not a size; write bytes, or a whole number with `k`, `m` or `g`, such as `512m`")
    };
    let (number, unit) = split(text).ok_or_else(wrong)?;
    let bytes = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1024,
        "m" | "mb" | "mib" => MIB,
        "g" | "gb" | "gib" => GIB,
        _ => return Err(wrong()),
    };
    let memory = number.checked_mul(bytes).ok_or_else(wrong)?;
    within(memory, LEAST_MEMORY, MOST_MEMORY).ok_or_else(|| {
        format!(
            "`{text}` is out of range; write `{}m` to `{}g`",
            LEAST_MEMORY / MIB,
            MOST_MEMORY / GIB
        )
    })
}

pub(super) fn processes(text: &str) -> Result<u32, Refused> {
    let number = text.parse().ok();
    number
        .and_then(|number| within(number, LEAST_PROCESSES, MOST_PROCESSES))
        .ok_or_else(|| {
            format!(
                "`{text}` is not a number of processes; write a whole number from {LEAST_PROCESSES} to {MOST_PROCESSES}"
            )
        })
}

pub(super) fn cpus(text: &str) -> Result<f64, Refused> {
    let number = text.parse().ok();
    number
        .and_then(|number| within(number, LEAST_CPUS, MOST_CPUS))
        .ok_or_else(|| {
            format!("`{text}` is not a number of cores; write a number from {LEAST_CPUS} to {MOST_CPUS}, such as `0.5`")
        })
}

/// Reads `uid` or `uid:gid`.
pub(super) fn user(text: &str) -> Result<(u32, u32), Refused> {
    let number = |text: &str| {
        let number = text.parse().ok();
        number.and_then(|number| within(number, 1, MOST_USERS))
    };
    let (user, group) = text.split_once(':').unwrap_or((text, text));
    number(user).zip(number(group)).ok_or_else(|| {
        format!("`{text}` is not a user; write `uid` or `uid:gid` as numbers from 1, such as `65534:65534`")
    })
}

/// The mode, and whether the text is a known mode. Any other text selects TOON.
pub(super) fn output(text: &str) -> (OutputMode, bool) {
    match text.to_ascii_lowercase().as_str() {
        "compact" => (OutputMode::Compact, true),
        "toon" => (OutputMode::Toon, true),
        "json" => (OutputMode::Json, true),
        _ => (OutputMode::Toon, false),
    }
}

/// The log filter for a Python level.
pub(super) fn log_level(text: &str) -> Result<&'static str, Refused> {
    match text.to_ascii_uppercase().as_str() {
        "DEBUG" => Ok("debug"),
        "INFO" => Ok("info"),
        "WARNING" | "WARN" => Ok("warn"),
        "ERROR" | "CRITICAL" | "FATAL" => Ok("error"),
        _ => Err(format!(
            "`{text}` is not a level; write `DEBUG`, `INFO`, `WARNING`, `ERROR` or `CRITICAL`"
        )),
    }
}

pub(crate) fn switch(text: &str) -> Result<bool, Refused> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err(format!(
            "`{text}` is neither yes nor no; write `1`, `true` or `yes`, or `0`, `false` or `no`"
        )),
    }
}

/// Reads a runtime; `Some` for a container engine.
pub(super) fn runtime(text: &str) -> Result<Option<String>, Refused> {
    match text.to_ascii_lowercase().as_str() {
        "auto" | "process" => Ok(None),
        engine @ ("podman" | "docker") => Ok(Some(engine.to_owned())),
        _ => Err(format!(
            "`{text}` is not a runtime; write `auto` or `process`, or leave the variable out"
        )),
    }
}

/// Reads a path as a shell does: `~` is the home directory, and relative paths start at the current
/// directory.
pub(super) fn path(text: &str, env: &dyn Environment) -> Result<PathBuf, Refused> {
    let Some(below) = text.strip_prefix('~') else {
        return Ok(absolute(text.as_ref(), env));
    };
    if !below.is_empty() && !below.starts_with('/') {
        return Err(format!(
            "`{text}` names another user's home; write the absolute path"
        ));
    }
    match env.var("HOME").ok().flatten() {
        Some(home) => Ok(PathBuf::from(home).join(below.trim_start_matches('/'))),
        None => Err(format!(
            "`{text}` needs HOME, which is not set; write the absolute path"
        )),
    }
}

fn within<T: PartialOrd>(value: T, least: T, most: T) -> Option<T> {
    Some(value).filter(|value| *value >= least && *value <= most)
}

/// Splits a whole number from its unit.
fn split(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, text[end..].trim_start()))
}
