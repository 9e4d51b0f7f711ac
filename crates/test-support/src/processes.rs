//! Inspects processes from outside: descendants, state and memory.

use std::fs;
use std::path::PathBuf;

/// A descendant of another process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The process number.
    pub pid: u32,
    /// Command and arguments, joined by spaces; empty for a zombie.
    pub command: String,
    /// The letter of the state in `/proc`, such as `R` (running) or `S` (sleeping).
    pub state: char,
}

/// All running descendants of a process, parents before children.
pub fn descendants(pid: u32) -> Vec<Process> {
    let mut found = Vec::new();
    let mut waiting = children(pid);
    while let Some(pid) = waiting.pop() {
        waiting.extend(children(pid));
        if let Some(process) = look(pid) {
            found.push(process);
        }
    }
    found
}

/// A field of `/proc/PID/status`, such as `Uid` or `VmRSS`.
pub fn status_field(pid: u32, field: &str) -> Option<String> {
    let status = fs::read_to_string(proc(pid, "status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.map(|value| value.trim().to_owned())
}

/// The peak resident memory of a process, in KiB.
pub fn peak_memory(pid: u32) -> Option<u64> {
    let memory = status_field(pid, "VmHWM")?;
    memory.split_whitespace().next()?.parse().ok()
}

fn proc(pid: u32, file: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{file}"))
}

fn look(pid: u32) -> Option<Process> {
    let state = status_field(pid, "State")?.chars().next()?;
    let command = fs::read(proc(pid, "cmdline")).ok()?;
    let command = String::from_utf8_lossy(&command)
        .replace('\0', " ")
        .trim()
        .to_owned();
    (state != 'Z').then_some(Process { pid, command, state })
}

/// Includes the children of every thread.
fn children(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(proc(pid, "task")).into_iter().flatten().flatten();
    threads
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|list| {
            list.split_whitespace()
                .filter_map(|pid| pid.parse().ok())
                .collect::<Vec<u32>>()
        })
        .collect()
}
