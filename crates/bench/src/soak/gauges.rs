//! The numbers of running codeyards that must not grow during a soak.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use test_support::{descendants, status_field};

use super::machine_state::MachineState;
use crate::processes::{self, GROUP_PREFIX};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gauge {
    pub name: &'static str,
    pub counts: Counts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    Bytes,
    Things,
}

const fn bytes(name: &'static str) -> Gauge {
    Gauge {
        name,
        counts: Counts::Bytes,
    }
}

const fn things(name: &'static str) -> Gauge {
    Gauge {
        name,
        counts: Counts::Things,
    }
}

/// In the order of [`look`].
pub const GAUGES: [Gauge; 11] = [
    bytes("resident memory of codeyard"),
    bytes("resident memory of its helpers"),
    things("processes"),
    things("helper processes"),
    things("descriptors of codeyard"),
    things("descriptors of its helpers"),
    things("namespaces"),
    things("control groups"),
    things("mounts of helpers"),
    things("temporary files"),
    things("database handles"),
];

/// Samples the programs; a gauge's size is the sum over all of them.
pub fn look(programs: &[u32], directories: &[PathBuf]) -> [f64; GAUGES.len()] {
    let families: Vec<Family> = programs.iter().map(|program| Family::of(*program)).collect();
    let sum = |size: &dyn Fn(&Family) -> f64| families.iter().map(size).sum::<f64>();
    let of_helpers =
        |size: fn(u32) -> f64| move |family: &Family| family.helpers.iter().map(|pid| size(*pid)).sum();
    let descriptors = |pid| number(processes::descriptors(pid));
    let members = || families.iter().flat_map(Family::members);
    [
        sum(&|family| processes::resident_memory(family.program)),
        sum(&of_helpers(processes::resident_memory)),
        number(members().count()),
        sum(&|family| number(family.helpers.len())),
        sum(&|family| descriptors(family.program)),
        sum(&of_helpers(descriptors)),
        number(namespaces(members()).len()),
        number(groups(members())),
        number(mounts(
            families.iter().flat_map(|family| family.helpers.iter().copied()),
        )),
        number(MachineState::look(directories).files()),
        sum(&|family| number(database_handles(family.program))),
    ]
}

struct Family {
    program: u32,
    /// Zygotes, supervisors of servers, and the servers.
    helpers: Vec<u32>,
    /// Clones of a zygote and their children.
    guests: Vec<u32>,
}

impl Family {
    fn of(program: u32) -> Family {
        let below = descendants(program);
        let zygotes = below.iter().filter(|process| is_zygote(process.pid));
        let guests: BTreeSet<u32> = zygotes
            .flat_map(|zygote| descendants(zygote.pid))
            .map(|process| process.pid)
            .collect();
        let helpers = below.iter().map(|process| process.pid);
        Family {
            program,
            helpers: helpers.filter(|pid| !guests.contains(pid)).collect(),
            guests: guests.into_iter().collect(),
        }
    }

    fn members(&self) -> impl Iterator<Item = u32> {
        [self.program]
            .into_iter()
            .chain(self.helpers.iter().copied())
            .chain(self.guests.iter().copied())
    }
}

/// Whether a process is a zygote: it runs the zygote's program and its parent does not. A session's
/// parent does.
fn is_zygote(pid: u32) -> bool {
    let runs = |pid: u32| {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&command).contains("zygote.py")
    };
    let parent = status_field(pid, "PPid").and_then(|parent| parent.parse().ok());
    runs(pid) && parent.is_some_and(|parent| !runs(parent))
}

fn namespaces(pids: impl Iterator<Item = u32>) -> BTreeSet<PathBuf> {
    let kinds = ["cgroup", "ipc", "mnt", "net", "pid", "user", "uts"];
    pids.flat_map(|pid| kinds.map(|kind| fs::read_link(format!("/proc/{pid}/ns/{kind}"))))
        .flatten()
        .collect()
}

/// Mounts in the namespaces of helpers, where directories are attached to sessions.
fn mounts(helpers: impl Iterator<Item = u32>) -> usize {
    let mut seen = BTreeSet::new();
    let fresh = |pid: &u32| {
        fs::read_link(format!("/proc/{pid}/ns/mnt")).is_ok_and(|namespace| seen.insert(namespace))
    };
    let lines =
        |pid| fs::read_to_string(format!("/proc/{pid}/mountinfo")).map_or(0, |mounts| mounts.lines().count());
    helpers.filter(fresh).map(lines).sum()
}

/// Control groups of sessions in one hierarchy, in use or idle.
fn groups(pids: impl Iterator<Item = u32>) -> usize {
    let parents: BTreeSet<PathBuf> = pids
        .filter_map(processes::memory_group)
        .filter_map(parent_of_groups)
        .collect();
    let directories = |parent: PathBuf| fs::read_dir(parent).into_iter().flatten().flatten();
    parents
        .into_iter()
        .flat_map(directories)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .count()
}

fn parent_of_groups(group: PathBuf) -> Option<PathBuf> {
    let ours = |path: &&std::path::Path| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with(GROUP_PREFIX))
    };
    group.ancestors().find(ours).map(PathBuf::from)
}

fn database_handles(pid: u32) -> usize {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten()
        .flatten();
    descriptors
        .filter_map(|descriptor| fs::read_link(descriptor.path()).ok())
        .filter(|path| path.to_string_lossy().contains("codeyard.db"))
        .count()
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
