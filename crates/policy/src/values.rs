//! Values of limits in settings, on command lines and in calls, with their ranges.

use std::ops::RangeInclusive;
use std::time::Duration;

use types::{Limit, Limits, Network, Written};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const GIB: u64 = 1024 * MIB;

/// With less time, no program reaches its first line on a loaded machine.
const MIN_TIME: Duration = Duration::from_millis(100);
/// CPU time may exceed wall time if a session has several cores.
const MAX_CPU_TIME: Duration = Duration::from_secs(3600);
/// The upper end exceeds the cores of every supported machine.
const CPU_RATE: RangeInclusive<f64> = 0.01..=1024.0;
/// The lower end is about the need of an interpreter with numpy and pandas.
const MEMORY: RangeInclusive<u64> = 64 * MIB..=1024 * GIB;
/// From the interpreter with its children to the kernel's limit for a pid namespace.
const PROCESSES: RangeInclusive<u64> = 4..=32_768;
/// The interpreter itself holds about a dozen.
const OPEN_FILES: RangeInclusive<u64> = 32..=1_048_576;
const FILE_SIZE: RangeInclusive<u64> = 4 * KIB..=1024 * GIB;
const DISK: RangeInclusive<u64> = MIB..=1024 * GIB;
const INODES: RangeInclusive<u64> = 100..=100_000_000;
/// Below the lower end, a program cannot read its own files in a reasonable time.
const DISK_RATE: RangeInclusive<u64> = 64 * KIB..=1024 * GIB;
/// One message carries a stream, so the upper end is far below the longest message.
const OUTPUT: RangeInclusive<u64> = KIB..=16 * MIB;
const HOST_CALLS: RangeInclusive<u64> = 1..=10_000_000;
const CONCURRENT_HOST_CALLS: RangeInclusive<u64> = 1..=1024;

/// The highest values that the operator may set.
pub(crate) fn highest() -> Limits {
    Limits {
        wall_time: Limits::MAX_WALL_TIME,
        cpu_time: MAX_CPU_TIME,
        cpu_rate: *CPU_RATE.end(),
        memory: *MEMORY.end(),
        processes: u32::MAX,
        open_files: u32::MAX,
        file_size: *FILE_SIZE.end(),
        disk: *DISK.end(),
        inodes: *INODES.end(),
        disk_rate: None,
        output: *OUTPUT.end(),
        host_calls: u32::MAX,
        concurrent_host_calls: u32::MAX,
        network: Network::AllowList,
    }
}

/// Sets one limit, at most to the value in `most`.
pub(crate) fn set(
    limits: &mut Limits,
    limit: Limit,
    value: Written<'_>,
    most: &Limits,
) -> Result<(), String> {
    let time = |highest: Duration, most: Duration| value.duration(below(&(MIN_TIME..=highest), most));
    match limit {
        Limit::WallTime => limits.wall_time = time(Limits::MAX_WALL_TIME, most.wall_time)?,
        Limit::CpuTime => limits.cpu_time = time(MAX_CPU_TIME, most.cpu_time)?,
        Limit::CpuRate => limits.cpu_rate = value.rate(below(&CPU_RATE, most.cpu_rate))?,
        Limit::Memory => limits.memory = value.size(below(&MEMORY, most.memory))?,
        Limit::Processes => limits.processes = value.count(below(&PROCESSES, most.processes.into()))?,
        Limit::OpenFiles => limits.open_files = value.count(below(&OPEN_FILES, most.open_files.into()))?,
        Limit::FileSize => limits.file_size = value.size(below(&FILE_SIZE, most.file_size))?,
        Limit::Disk => limits.disk = value.size(below(&DISK, most.disk))?,
        Limit::Inodes => limits.inodes = value.count(below(&INODES, most.inodes))?,
        Limit::DiskRate => limits.disk_rate = disk_rate(value, most.disk_rate)?,
        Limit::Output => limits.output = value.size(below(&OUTPUT, most.output))?,
        Limit::HostCalls => limits.host_calls = value.count(below(&HOST_CALLS, most.host_calls.into()))?,
        Limit::ConcurrentHostCalls => {
            let range = below(&CONCURRENT_HOST_CALLS, most.concurrent_host_calls.into());
            limits.concurrent_host_calls = value.count(range)?;
        }
        Limit::Network => limits.network = network(value)?,
        // Not a limit of a session; `Limit::from_name` never returns it.
        Limit::Workspace => {}
    }
    Ok(())
}

/// The range up to `most`; if `most` is below the range, only `most`.
fn below<T: PartialOrd + Copy>(range: &RangeInclusive<T>, most: T) -> RangeInclusive<T> {
    let high = if most < *range.end() { most } else { *range.end() };
    let low = if high < *range.start() {
        high
    } else {
        *range.start()
    };
    low..=high
}

/// Bytes per second; `none` is valid only if `most` is `None`.
fn disk_rate(value: Written<'_>, most: Option<u64>) -> Result<Option<u64>, String> {
    if most.is_none() && value.text() == Ok("none") {
        return Ok(None);
    }
    let range = below(&DISK_RATE, most.unwrap_or(*DISK_RATE.end()));
    let hint = |wrong: String| match most {
        None => format!("{wrong}; \"none\" means no bound"),
        Some(_) => wrong,
    };
    value.size(range).map(Some).map_err(hint)
}

fn network(value: Written<'_>) -> Result<Network, String> {
    match value.text()? {
        "none" => Ok(Network::None),
        "allow-list" => Err(
            "\"allow-list\" needs the proxy, which this version does not have; write \"none\" and reach hosts through tools"
                .to_owned(),
        ),
        other => Err(format!("expected \"none\" or \"allow-list\", found \"{other}\"")),
    }
}
