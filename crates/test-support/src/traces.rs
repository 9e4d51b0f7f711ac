//! The processes and control groups of a codeyard at one moment, so that a test can wait for their end.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::processes::descendants;

const GROUPS: &str = "/sys/fs/cgroup";
const GROUP_PREFIX: &str = "codeyard-";

/// Longest wait; generous, because tests share the machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Processes and control groups. Each has an identity that distinguishes it from a later one of the same name.
#[derive(Debug, Clone, Default)]
pub struct Traces {
    processes: Vec<Trace<u32>>,
    groups: Vec<Trace<PathBuf>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Trace<T> {
    name: T,
    identity: u64,
    shown: String,
}

// === impl Traces ===

impl Traces {
    /// A process and all its descendants.
    pub fn of(codeyard: u32) -> Traces {
        let mut traces = Traces::default();
        traces.gather(codeyard);
        traces
    }

    /// Adds everything that appeared since.
    pub fn gather(&mut self, codeyard: u32) {
        let below = descendants(codeyard).into_iter().map(|process| process.pid);
        for pid in [codeyard].into_iter().chain(below) {
            let Some(identity) = started(pid) else { continue };
            for group in groups_of(pid) {
                if let Some(identity) = inode(&group) {
                    let shown = group.display().to_string();
                    add(&mut self.groups, group, identity, shown);
                }
            }
            add(&mut self.processes, pid, identity, command(pid));
        }
    }

    /// Only the matching processes, without groups.
    pub fn only(&self, fits: impl Fn(u32) -> bool) -> Traces {
        let processes = self.processes.iter().filter(|process| fits(process.name));
        Traces {
            processes: processes.cloned().collect(),
            groups: Vec::new(),
        }
    }

    /// The numbers of the processes.
    pub fn pids(&self) -> Vec<u32> {
        self.processes.iter().map(|process| process.name).collect()
    }

    /// The control groups.
    pub fn groups(&self) -> Vec<PathBuf> {
        self.groups.iter().map(|group| group.name.clone()).collect()
    }

    /// The processes that still run.
    pub fn running(&self) -> Vec<String> {
        let runs = |process: &&Trace<u32>| started(process.name) == Some(process.identity);
        self.processes
            .iter()
            .filter(runs)
            .map(|process| format!("process {} ({})", process.name, process.shown))
            .collect()
    }

    /// The processes that still run and the control groups that still exist.
    pub fn left(&self) -> Vec<String> {
        let stands = |group: &&Trace<PathBuf>| inode(&group.name) == Some(group.identity);
        let groups = self.groups.iter().filter(stands).map(|group| group.shown.clone());
        self.running().into_iter().chain(groups).collect()
    }

    /// Waits until all are gone; panics with those that remain.
    pub async fn wait_until_gone(&self) {
        let start = Instant::now();
        loop {
            let left = self.left();
            if left.is_empty() {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "still there: {left:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

fn add<T: PartialEq>(traces: &mut Vec<Trace<T>>, name: T, identity: u64, shown: String) {
    let known = traces
        .iter()
        .any(|trace| trace.name == name && trace.identity == identity);
    if !known {
        traces.push(Trace {
            name,
            identity,
            shown,
        });
    }
}

/// A process's start time in kernel ticks; `None` if it does not run (a zombie does not).
fn started(pid: u32) -> Option<u64> {
    const STATE: usize = 0;
    const START: usize = 19;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may contain anything; it ends at the last parenthesis.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let runs = !matches!(*fields.get(STATE)?, "Z" | "X");
    runs.then(|| fields.get(START)?.parse().ok()).flatten()
}

fn command(pid: u32) -> String {
    let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let command = String::from_utf8_lossy(&command).replace('\0', " ");
    command.chars().take(80).collect()
}

/// The codeyard control groups of a process in every hierarchy, each with its parent.
fn groups_of(pid: u32) -> Vec<PathBuf> {
    let lines = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    let ours = lines
        .lines()
        .filter_map(|line| line.splitn(3, ':').nth(2))
        .filter(|path| path.split('/').any(|part| part.starts_with(GROUP_PREFIX)));
    let hierarchies: Vec<PathBuf> = fs::read_dir(GROUPS)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .chain([PathBuf::from(GROUPS)])
        .collect();
    ours.flat_map(|path| {
        let below = Path::new(path.trim_start_matches('/'));
        let parents = [Some(below), below.parent()].into_iter().flatten();
        let named = parents
            .filter(|path| path.components().any(is_ours))
            .map(Path::to_owned);
        named.collect::<Vec<_>>()
    })
    .flat_map(|path| {
        hierarchies
            .iter()
            .map(|hierarchy| hierarchy.join(&path))
            .filter(|directory| directory.is_dir())
            .collect::<Vec<_>>()
    })
    .collect()
}

fn is_ours(part: std::path::Component<'_>) -> bool {
    part.as_os_str().to_string_lossy().starts_with(GROUP_PREFIX)
}

fn inode(directory: &Path) -> Option<u64> {
    Some(fs::metadata(directory).ok()?.ino())
}
