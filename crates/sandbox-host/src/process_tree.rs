//! Reads the usage of a process and its descendants from `/proc`, for sessions without a control group and for single
//! processes.
//!
//! The numbers are approximate: processes start and end during the reading.

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// Current usage of a process and its descendants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessTreeUsage {
    /// Bytes of anonymous and shared memory, swap and page tables.
    pub memory: u64,
    /// CPU time, including ended and reaped children.
    pub cpu: Duration,
    /// Processes and threads.
    pub tasks: u64,
}

/// Limit on the processes that one walk visits, far above the limit on processes.
const MAX_PROCESSES: usize = 4096;
const KIB: u64 = 1024;

/// The usage of the process `first` and its descendants. Counts a shared page once per sharing process.
pub fn usage(first: u32) -> ProcessTreeUsage {
    let mut usage = ProcessTreeUsage::default();
    for_each(first, |pid| {
        let status = status(pid);
        usage.memory += memory_in(&status);
        usage.tasks += number(&status, "Threads:");
        usage.cpu += cpu(pid);
    });
    usage
}

/// Bytes of memory of `first` and its descendants; each shared page counts once. The kernel walks every page table for
/// this number, so call this function only after `usage` has found too much.
pub fn proportional_memory(first: u32) -> u64 {
    let mut total = 0;
    for_each(first, |pid| {
        // Count the full size if this user may not read the process's page tables.
        total += proportional(pid).unwrap_or_else(|| memory(pid));
    });
    total
}

/// Anonymous, shared and swapped memory and page tables of one process in bytes; 0 if it is gone.
pub fn memory(pid: u32) -> u64 {
    memory_in(&status(pid))
}

/// Processes and threads of a user that this process can see.
pub fn tasks_of(user: u32) -> u64 {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .map(status)
        .filter(|status| number(status, "Uid:") == u64::from(user))
        .map(|status| number(&status, "Threads:"))
        .sum()
}

/// The text of `/proc/PID/status`; empty if the process has ended. Once the main thread has ended, its file lacks the
/// memory. This function then reads the file of another thread.
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

fn memory_in(status: &str) -> u64 {
    KIB * sum(status, &["RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:"])
}

fn number(status: &str, name: &str) -> u64 {
    sum(status, &[name])
}

/// Like `memory`, without page tables. Divides a shared page among its processes.
fn proportional(pid: u32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    Some(KIB * sum(&rollup, &["Pss_Anon:", "Pss_Shmem:", "SwapPss:"]))
}

/// The sum of these fields in a file of `name: number kB` lines.
fn sum(text: &str, names: &[&str]) -> u64 {
    let number = |line: &str| line.split_whitespace().nth(1)?.parse::<u64>().ok();
    text.lines()
        .filter(|line| names.iter().any(|name| line.starts_with(name)))
        .filter_map(number)
        .sum()
}

/// Visits the process `first` and its descendants.
pub fn for_each(first: u32, mut visit: impl FnMut(u32)) {
    let mut queue = VecDeque::from([first]);
    let mut seen = 0;
    while let Some(pid) = queue.pop_front() {
        seen += 1;
        if seen > MAX_PROCESSES {
            break;
        }
        visit(pid);
        queue.extend(children(pid));
    }
}

/// CPU time of one process and its reaped children.
fn cpu(pid: u32) -> Duration {
    const FIRST_TIME: usize = 11;
    const TIMES: usize = 4;
    let stat = after_name(pid);
    let fields = stat.split_whitespace().skip(FIRST_TIME).take(TIMES);
    let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second().max(1))
}

/// Whether a process runs, waits for a processor, or is in uninterruptible sleep (usually for its memory).
pub fn wants_processor(pid: u32) -> bool {
    matches!(state(&after_name(pid)), "R" | "D")
}

/// Whether the process `first` or one of its descendants wants a processor.
pub fn any_wants_processor(first: u32) -> bool {
    let mut wants = false;
    for_each(first, |pid| wants |= wants_processor(pid));
    wants
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

/// The processes of this tree that have ended and that their parents have not reaped.
pub fn zombies(first: u32) -> u64 {
    let mut zombies = 0;
    for_each(first, |pid| {
        let has_ended = threads(pid) == 1 && state(&after_name(pid)) == "Z";
        zombies += u64::from(has_ended);
    });
    zombies
}

/// The living descendants of `first`, except those that are spared.
pub fn descendants(first: u32, spared: &[u32]) -> Vec<u32> {
    let mut descendants = Vec::new();
    for_each(first, |pid| {
        if pid != first && !spared.contains(&pid) && is_alive(pid) {
            descendants.push(pid);
        }
    });
    descendants
}

/// Whether a process has a thread that has not ended.
fn is_alive(pid: u32) -> bool {
    threads_of(pid).any(|thread| {
        let stat = fs::read_to_string(thread.join("stat")).unwrap_or_default();
        !matches!(state(after_parenthesis(&stat)), "Z" | "X" | "")
    })
}

/// The fields of `/proc/PID/stat` after the process's name; empty if the process is gone.
fn after_name(pid: u32) -> String {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    after_parenthesis(&stat).to_owned()
}

/// The fields of a `stat` file after the name. The name may contain any character and ends at the last parenthesis.
fn after_parenthesis(stat: &str) -> &str {
    stat.rsplit_once(')').map_or("", |(_, rest)| rest)
}

fn state(after_name: &str) -> &str {
    after_name.split_whitespace().next().unwrap_or("")
}

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

/// The descendant of a process that has this number in its own pid namespace.
pub fn descendant_numbered(first: u32, number_inside: u32) -> Option<u32> {
    let mut found = None;
    for_each(first, |pid| {
        if found.is_none() && pid != first && number_inside_of(pid) == Some(number_inside) {
            found = Some(pid);
        }
    });
    found
}

/// The number of a process in its own pid namespace.
fn number_inside_of(pid: u32) -> Option<u32> {
    let status = status(pid);
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    numbers.split_whitespace().last()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_uses_memory_and_time() {
        let held = vec![1u8; 8 << 20];
        let usage = usage(std::process::id());
        assert!(usage.memory >= held.len() as u64, "{usage:?}");
        let once = proportional_memory(std::process::id());
        assert!(once >= held.len() as u64, "{once}");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test waits for its child")]
    fn a_process_is_a_zombie_from_its_end_until_it_is_reaped() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let pid = child.id();
        assert_eq!((zombies(pid), usage(pid).tasks), (0, 1));
        drop(child.stdin.take());
        let ended = std::time::Instant::now() + Duration::from_secs(20);
        while zombies(pid) == 0 {
            assert!(std::time::Instant::now() < ended);
            std::thread::yield_now();
        }
        assert_eq!(usage(pid).tasks, 1);
        child.wait().unwrap();
        assert_eq!((zombies(pid), usage(pid).tasks), (0, 0));
    }
}
