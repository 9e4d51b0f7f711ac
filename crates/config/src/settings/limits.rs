//! `[limits]`: each key is a field of `types::Limits` of the same name, and `max_wall_time`.

use std::ops::RangeInclusive;
use std::time::Duration;

use types::{Limit, Limits, Network};

use super::table::Value;
use super::unknown;
use crate::units;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const GIB: u64 = 1024 * MIB;

/// The one key that is no limit of a session: how much wall time a caller may ask for.
const MAX_WALL_TIME: &str = "max_wall_time";

/// Below this no program gets to its first line on a loaded machine.
const MIN_TIME: Duration = Duration::from_millis(100);
/// CPU time may exceed wall time where a session has more than one core.
const MAX_CPU_TIME: Duration = Duration::from_secs(3600);
/// The upper end is more cores than any machine has that codeyard is built for.
const CPU_RATE: RangeInclusive<f64> = 0.01..=1024.0;
/// An interpreter with numpy and pandas loaded needs about this much to do anything.
const MEMORY: RangeInclusive<u64> = 64 * MIB..=1024 * GIB;
/// The interpreter and what it starts; the upper end is the kernel's for a pid namespace.
const PROCESSES: RangeInclusive<u64> = 4..=32_768;
/// The interpreter itself holds about a dozen.
const OPEN_FILES: RangeInclusive<u64> = 32..=1_048_576;
const FILE_SIZE: RangeInclusive<u64> = 4 * KIB..=1024 * GIB;
const DISK: RangeInclusive<u64> = MIB..=1024 * GIB;
const INODES: RangeInclusive<u64> = 100..=100_000_000;
/// A stream travels in one message, so it is far below the longest message.
const OUTPUT: RangeInclusive<u64> = KIB..=16 * MIB;
const HOST_CALLS: RangeInclusive<u64> = 1..=10_000_000;
const CONCURRENT_HOST_CALLS: RangeInclusive<u64> = 1..=1024;

/// Sets the limit of that name.
pub(super) fn set(policy: &mut policy::Config, key: &str, value: &Value<'_>) -> Result<(), String> {
    if key == MAX_WALL_TIME {
        policy.max_wall_time = time(value, MIN_TIME..=Limits::MAX_WALL_TIME)?;
        return Ok(());
    }
    let Some(limit) = Limit::from_name(key) else {
        let mut known = [MAX_WALL_TIME; Limit::ALL.len() + 1];
        for (name, limit) in known.iter_mut().zip(Limit::ALL) {
            *name = limit.name();
        }
        return Err(unknown("limit", key, known));
    };
    let limits = &mut policy.limits;
    match limit {
        Limit::WallTime => limits.wall_time = time(value, MIN_TIME..=Limits::MAX_WALL_TIME)?,
        Limit::CpuTime => limits.cpu_time = time(value, MIN_TIME..=MAX_CPU_TIME)?,
        Limit::CpuRate => limits.cpu_rate = rate(value)?,
        Limit::Memory => limits.memory = size(value, MEMORY)?,
        Limit::Processes => limits.processes = count(value, PROCESSES)?,
        Limit::OpenFiles => limits.open_files = count(value, OPEN_FILES)?,
        Limit::FileSize => limits.file_size = size(value, FILE_SIZE)?,
        Limit::Disk => limits.disk = size(value, DISK)?,
        Limit::Inodes => limits.inodes = count(value, INODES)?,
        Limit::Output => limits.output = size(value, OUTPUT)?,
        Limit::HostCalls => limits.host_calls = count(value, HOST_CALLS)?,
        Limit::ConcurrentHostCalls => limits.concurrent_host_calls = count(value, CONCURRENT_HOST_CALLS)?,
        Limit::Network => limits.network = network(value)?,
        // No key of this table: `Limit::from_name` does not know it.
        Limit::Workspace => {}
    }
    Ok(())
}

pub(super) fn time(value: &Value<'_>, range: RangeInclusive<Duration>) -> Result<Duration, String> {
    let text = value
        .string()
        .map_err(|error| format!("{error}; write a duration with its unit, such as \"60s\""))?;
    let duration = units::duration(text)?;
    if range.contains(&duration) {
        return Ok(duration);
    }
    let (low, high) = (
        units::show_duration(*range.start()),
        units::show_duration(*range.end()),
    );
    Err(format!(
        "\"{text}\" is out of range; write \"{low}\" to \"{high}\""
    ))
}

pub(super) fn size(value: &Value<'_>, range: RangeInclusive<u64>) -> Result<u64, String> {
    let text = value
        .string()
        .map_err(|error| format!("{error}; write a size with its unit, such as \"256 MiB\""))?;
    let bytes = units::size(text)?;
    if range.contains(&bytes) {
        return Ok(bytes);
    }
    let (low, high) = (units::show_size(*range.start()), units::show_size(*range.end()));
    Err(format!(
        "\"{text}\" is out of range; write \"{low}\" to \"{high}\""
    ))
}

pub(super) fn count<T: TryFrom<u64>>(value: &Value<'_>, range: RangeInclusive<u64>) -> Result<T, String> {
    let number = value.whole()?;
    let out_of_range = || {
        format!(
            "{number} is out of range; write {} to {}",
            range.start(),
            range.end()
        )
    };
    if !range.contains(&number) {
        return Err(out_of_range());
    }
    T::try_from(number).map_err(|_| out_of_range())
}

fn rate(value: &Value<'_>) -> Result<f64, String> {
    let rate = value.number()?;
    if CPU_RATE.contains(&rate) {
        Ok(rate)
    } else {
        Err(format!(
            "{rate} is out of range; write a number of cores from 0.01 to 1024"
        ))
    }
}

fn network(value: &Value<'_>) -> Result<Network, String> {
    match value.one_of([("none", Network::None), ("allow-list", Network::AllowList)])? {
        Network::None => Ok(Network::None),
        Network::AllowList => Err(
            "\"allow-list\" needs the proxy, which this version does not have; write \"none\" and reach hosts through tools"
                .to_owned(),
        ),
    }
}
