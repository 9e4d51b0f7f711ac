//! Traces that a codeyard may leave on a machine, counted from outside: processes, groups, namespaces, mounts,
//! leases, files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use test_support::Traces;

use crate::processes;

/// Entries that stay in the data directory: environments, lists of tools, trees of stubs, records.
const KEPT: [&str; 8] = [
    "python",
    "cache",
    "logs",
    "trees",
    "run",
    "codeyard.db",
    "codeyard.db-wal",
    "codeyard.db-shm",
];
const RESULTS: &str = "results";

/// What exists on the machine without belonging to a process.
#[derive(Debug, Clone, Default)]
pub struct MachineState {
    mounts: BTreeSet<String>,
    files: BTreeSet<PathBuf>,
}

/// Resources of watched programs.
#[derive(Debug, Clone, Default)]
pub struct ProgramResources {
    traces: Traces,
    programs: BTreeSet<u32>,
    namespaces: BTreeSet<PathBuf>,
}

// === impl MachineState ===

impl MachineState {
    /// Records the machine's mounts and everything below these directories.
    pub fn look(directories: &[PathBuf]) -> Self {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let mut files = BTreeSet::new();
        for directory in directories {
            walk(directory, &mut files);
        }
        Self {
            mounts: mounts.lines().map(str::to_owned).collect(),
            files,
        }
    }

    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// What is new since `before`, each prefixed with its kind.
    pub fn beyond(&self, before: &MachineState) -> Vec<String> {
        let mounts = self
            .mounts
            .difference(&before.mounts)
            .map(|mount| format!("mount {mount}"));
        let files = self
            .files
            .difference(&before.files)
            .map(|file| format!("file {}", file.display()));
        mounts.chain(files).collect()
    }
}

fn walk(directory: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let kept = path
            .file_name()
            .is_some_and(|name| KEPT.iter().any(|kept| *kept == name));
        if kept {
            continue;
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(&path, found);
        }
        if !is_result(&path) {
            found.insert(path);
        }
    }
}

/// Whether a session wrote this below `/results`, or this is its directory; results stay until a person deletes them.
fn is_result(path: &Path) -> bool {
    let below = path.ancestors().skip(1).any(|parent| parent.ends_with(RESULTS));
    let is_empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    below && (path.is_file() || !is_empty())
}

// === impl ProgramResources ===

impl ProgramResources {
    pub fn gather(&mut self, program: u32) {
        self.programs.insert(program);
        self.traces.gather(program);
        let family = processes::family(program);
        let own = network(std::process::id());
        let namespaces = family.into_iter().filter_map(network);
        self.namespaces
            .extend(namespaces.filter(|namespace| Some(namespace) != own.as_ref()));
    }

    pub fn left(&self) -> Vec<String> {
        let mut left = self.traces.left();
        let alive: BTreeSet<PathBuf> = all_processes().into_iter().filter_map(network).collect();
        let namespaces = self.namespaces.intersection(&alive);
        left.extend(namespaces.map(|namespace| format!("network namespace {}", namespace.display())));
        let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
        let held = locks.lines().filter(|line| {
            let holder = line.split_whitespace().nth(4).and_then(|pid| pid.parse().ok());
            holder.is_some_and(|pid: u32| self.programs.contains(&pid))
        });
        left.extend(held.map(|lock| format!("lease {lock}")));
        left
    }
}

fn network(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/ns/net")).ok()
}

fn all_processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leftover_file_is_found_and_permanent_entries_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let directories = [directory.path().to_owned()];
        let before = MachineState::look(&directories);
        fs::create_dir(directory.path().join("cache")).unwrap();
        fs::write(directory.path().join("cache/tools"), "x").unwrap();
        assert!(MachineState::look(&directories).beyond(&before).is_empty());
        fs::write(directory.path().join("left"), "x").unwrap();
        let beyond = MachineState::look(&directories).beyond(&before);
        assert_eq!(
            beyond,
            [format!("file {}", directory.path().join("left").display())]
        );
    }

    #[test]
    fn results_are_kept_and_their_empty_directories_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let results = directory.path().join(RESULTS);
        fs::create_dir(&results).unwrap();
        let directories = [directory.path().to_owned()];
        let before = MachineState::look(&directories);
        fs::create_dir(results.join("full")).unwrap();
        fs::write(results.join("full/chart.png"), "x").unwrap();
        assert!(MachineState::look(&directories).beyond(&before).is_empty());
        fs::create_dir(results.join("empty")).unwrap();
        assert_eq!(MachineState::look(&directories).beyond(&before).len(), 1);
    }

    #[test]
    fn a_running_process_is_left_and_an_ended_process_is_not() {
        let mut sleeper = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let mut owned = ProgramResources::default();
        owned.gather(sleeper.id());
        assert_eq!(owned.left().len(), 1, "{:?}", owned.left());
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert!(owned.left().is_empty(), "{:?}", owned.left());
    }
}
