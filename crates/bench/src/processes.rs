//! The resources of processes: proportional and charged memory, descriptors, namespaces.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::param::clock_ticks_per_second;
use test_support::{descendants, status_field};

const GROUPS: &str = "/sys/fs/cgroup";
pub const GROUP_PREFIX: &str = "codeyard-";

/// Bytes of a process and its descendants; a shared page is divided among its users.
pub fn proportional_memory(pid: u32) -> f64 {
    family(pid)
        .into_iter()
        .map(|pid| proportional(pid).unwrap_or_default())
        .sum()
}

/// Processor time of a process and its descendants, in the kernel and outside.
pub fn processor_time(pid: u32) -> Duration {
    let ticks: u64 = family(pid).into_iter().filter_map(ticks).sum();
    Duration::from_millis(ticks * 1000 / clock_ticks_per_second())
}

fn ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, in brackets, may contain spaces.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut times = fields.split(' ').skip(11);
    let mut next = || times.next()?.parse::<u64>().ok();
    Some(next()? + next()?)
}

/// In bytes.
pub fn resident_memory(pid: u32) -> f64 {
    kibibytes(&status_field(pid, "VmRSS").unwrap_or_default()).unwrap_or_default()
}

/// Bytes charged to each session's control group below this process.
pub fn charged_to_sessions(pid: u32) -> Vec<f64> {
    let groups: BTreeSet<PathBuf> = family(pid).into_iter().filter_map(memory_group).collect();
    groups.iter().filter_map(|group| charged(group)).collect()
}

pub fn family(pid: u32) -> Vec<u32> {
    let below = descendants(pid).into_iter().map(|process| process.pid);
    [pid].into_iter().chain(below).collect()
}

pub fn descriptors(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)
}

fn proportional(pid: u32) -> Option<f64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    kibibytes(line)
}

fn kibibytes(text: &str) -> Option<f64> {
    let number: f64 = text.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(number * 1024.0)
}

/// The memory control group of the process's session.
pub fn memory_group(pid: u32) -> Option<PathBuf> {
    let lines = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let path = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let controllers = parts.next()?;
        let below = parts.next()?.trim_start_matches('/');
        let session = below.split('/').next_back()?.starts_with('s');
        let ours = session && below.split('/').any(|part| part.starts_with(GROUP_PREFIX));
        let counts = controllers.is_empty() || controllers.split(',').any(|name| name == "memory");
        (ours && counts).then(|| below.to_owned())
    };
    let hierarchies = ["memory", "", "unified"].map(|name| Path::new(GROUPS).join(name));
    let candidates = lines.lines().filter_map(path);
    candidates
        .flat_map(|below| hierarchies.clone().map(|hierarchy| hierarchy.join(&below)))
        .find(|directory| charged(directory).is_some())
}

fn charged(group: &Path) -> Option<f64> {
    let read = |name: &str| fs::read_to_string(group.join(name)).ok()?.trim().parse().ok();
    read("memory.usage_in_bytes").or_else(|| read("memory.current"))
}
