//! Finds and kills the descendants of this process through /proc.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

struct Descendant {
    pid: i32,
    parent: i32,
}

pub(super) fn kill() {
    for Descendant { pid, parent } in find() {
        let Some(handle) = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok())
        else {
            continue;
        };
        // The pid may have been reused since it was read; a reused pid has another parent. If the descendant's parent
        // has ended meanwhile, this process is now the parent.
        let now = parent_of(pid);
        if now == Some(parent) || now == Some(own_pid()) {
            // Fails for another user's process, or for one that has ended; the next scan shows which.
            let _ = pidfd_send_signal(&handle, Signal::KILL);
        }
    }
}

fn find() -> Vec<Descendant> {
    if Path::new("/proc/thread-self/children").exists() {
        collect(children_by_task)
    } else {
        let by_parent = processes_by_parent();
        collect(|parent| by_parent.get(&parent).cloned().unwrap_or_default())
    }
}

fn collect(children: impl Fn(i32) -> Vec<i32>) -> Vec<Descendant> {
    let mut found: Vec<Descendant> = Vec::new();
    let mut next = own_pid();
    let mut visited = 0;
    loop {
        found.extend(
            children(next)
                .into_iter()
                .map(|pid| Descendant { pid, parent: next }),
        );
        let Some(descendant) = found.get(visited) else {
            return found;
        };
        next = descendant.pid;
        visited += 1;
    }
}

/// The children of all threads of a process, as the kernel lists them.
fn children_by_task(pid: i32) -> Vec<i32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|list| {
            list.split_ascii_whitespace()
                .filter_map(|pid| pid.parse().ok())
                .collect::<Vec<i32>>()
        })
        .collect()
}

/// All processes by parent, for kernels without the `children` file.
fn processes_by_parent() -> HashMap<i32, Vec<i32>> {
    let mut by_parent: HashMap<i32, Vec<i32>> = HashMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    for pid in entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()) {
        if let Some(parent) = parent_of(pid) {
            by_parent.entry(parent).or_default().push(pid);
        }
    }
    by_parent
}

fn parent_of(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain spaces and parentheses: state and parent follow the last one.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn own_pid() -> i32 {
    getpid().as_raw_nonzero().get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_tables_name_the_same_parents() {
        let pid = own_pid();
        let parent = parent_of(pid).expect("this process has a parent");
        assert!(processes_by_parent()[&parent].contains(&pid));
        assert!(children_by_task(parent).contains(&pid));
    }
}
