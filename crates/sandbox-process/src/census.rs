//! Counts a session's processes through /proc, where no control group does: best effort, by polling.

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// What all processes of a session use now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Census {
    /// Bytes of anonymous and shared memory, swap and page tables.
    pub memory: u64,
    /// CPU time, that of ended and reaped children included.
    pub cpu: Duration,
    /// Processes and threads.
    pub tasks: u64,
}

/// Processes looked at before the count is given up as complete enough: the process limit is far lower.
const MOST: usize = 4096;
const KIB: u64 = 1024;

/// Counts the process `first` and all that came from it. A page that several share counts for each of them.
pub fn take(first: u32) -> Census {
    let mut census = Census::default();
    for_each(first, |pid| {
        let status = status(pid);
        census.memory += held(&status);
        census.tasks += number(&status, "Threads:");
        census.cpu += cpu(pid);
    });
    census
}

/// Bytes of memory of `first` and all that came from it, where a page that several share counts once. It goes through
/// every page table, so it is for when `take` has found too much.
pub fn memory_shared_once(first: u32) -> u64 {
    let mut total = 0;
    for_each(first, |pid| {
        // Who cannot be looked at so closely counts in full.
        total += proportional(pid).unwrap_or_else(|| memory(pid));
    });
    total
}

/// Anonymous, shared and swapped memory and page tables of one process; 0 if it is gone.
pub fn memory(pid: u32) -> u64 {
    held(&status(pid))
}

/// Processes and threads of a user, as far as this process sees them.
pub fn tasks_of(user: u32) -> u64 {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .map(status)
        .filter(|status| number(status, "Uid:") == u64::from(user))
        .map(|status| number(&status, "Threads:"))
        .sum()
}

/// What /proc/PID/status says; empty if the process is gone. Where the main thread has ended, that file no longer
/// tells of the memory that the other threads hold, so the file of one of those stands in for it.
fn status(pid: u32) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    if number(&status, "Threads:") <= 1 || status.contains("\nRssAnon:") {
        return status;
    }
    threads_of(pid)
        .filter_map(|thread| fs::read_to_string(thread.join("status")).ok())
        .find(|status| status.contains("\nRssAnon:"))
        .unwrap_or(status)
}

fn held(status: &str) -> u64 {
    KIB * sum(status, &["RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:"])
}

/// The first number of one field; 0 if it is not there.
fn number(status: &str, name: &str) -> u64 {
    sum(status, &[name])
}

/// As `memory`, without page tables, each shared page divided among those who share it.
fn proportional(pid: u32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    Some(KIB * sum(&rollup, &["Pss_Anon:", "Pss_Shmem:", "SwapPss:"]))
}

/// The sum of these fields of a file of `name: number kB` lines.
fn sum(text: &str, names: &[&str]) -> u64 {
    let number = |line: &str| line.split_whitespace().nth(1)?.parse::<u64>().ok();
    text.lines()
        .filter(|line| names.iter().any(|name| line.starts_with(name)))
        .filter_map(number)
        .sum()
}

/// Visits the process `first` and all that came from it.
pub fn for_each(first: u32, mut visit: impl FnMut(u32)) {
    let mut queue = VecDeque::from([first]);
    let mut seen = 0;
    while let Some(pid) = queue.pop_front() {
        seen += 1;
        if seen > MOST {
            break;
        }
        visit(pid);
        queue.extend(children(pid));
    }
}

/// CPU time of one process and of its reaped children.
fn cpu(pid: u32) -> Duration {
    const FIRST_TIME: usize = 11;
    const TIMES: usize = 4;
    let stat = after_name(pid);
    let fields = stat.split_whitespace().skip(FIRST_TIME).take(TIMES);
    let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second().max(1))
}

/// Whether a process runs, waits for a processor, or for its memory.
pub fn wants_processor(pid: u32) -> bool {
    matches!(state(&after_name(pid)), "R" | "D")
}

/// Threads of one process; 0 if it is gone.
pub fn threads(pid: u32) -> u64 {
    number(&status(pid), "Threads:")
}

/// Whether all threads of a process have stopped or ended.
pub fn has_stopped(pid: u32) -> bool {
    threads_of(pid).all(|thread| {
        let stat = fs::read_to_string(thread.join("stat")).unwrap_or_default();
        matches!(state(after_parenthesis(&stat)), "T" | "Z" | "X" | "")
    })
}

/// The processes that came from `first` and are alive, without `first` and `spared`.
pub fn others(first: u32, spared: u32) -> Vec<u32> {
    let mut others = Vec::new();
    for_each(first, |pid| {
        if pid != first && pid != spared && is_alive(pid) {
            others.push(pid);
        }
    });
    others
}

/// Whether a process has a thread that has not ended.
fn is_alive(pid: u32) -> bool {
    threads_of(pid).any(|thread| {
        let stat = fs::read_to_string(thread.join("stat")).unwrap_or_default();
        !matches!(state(after_parenthesis(&stat)), "Z" | "X" | "")
    })
}

/// What /proc/PID/stat says after the name of the process; empty if it is gone.
fn after_name(pid: u32) -> String {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    after_parenthesis(&stat).to_owned()
}

/// What follows the name in a `stat` file: the name may hold anything but ends with the last parenthesis.
fn after_parenthesis(stat: &str) -> &str {
    stat.rsplit_once(')').map_or("", |(_, rest)| rest)
}

/// The letter of the state; empty if there is none.
fn state(after_name: &str) -> &str {
    after_name.split_whitespace().next().unwrap_or("")
}

/// Directories of the threads of one process.
fn threads_of(pid: u32) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|thread| thread.path())
}

/// Children of all threads of one process.
pub fn children(pid: u32) -> Vec<u32> {
    threads_of(pid)
        .filter_map(|thread| fs::read_to_string(thread.join("children")).ok())
        .flat_map(|text| {
            text.split_whitespace()
                .filter_map(|pid| pid.parse().ok())
                .collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_uses_memory_and_time() {
        let held = vec![1u8; 8 << 20];
        let census = take(std::process::id());
        assert!(census.memory >= held.len() as u64, "{census:?}");
        let once = memory_shared_once(std::process::id());
        assert!(once >= held.len() as u64, "{once}");
    }
}
