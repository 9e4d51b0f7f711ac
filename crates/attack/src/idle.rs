//! What H sees of the attacker's session between two runs: the session must neither act nor grow.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::host::Host;

/// How long H watches: something that acts continuously, or every ten milliseconds, acts many times
/// meanwhile.
const TIME: Duration = Duration::from_millis(300);
/// The fields of `/proc/PID/stat` after the name that hold the process's own user and system CPU time.
const TIMES: std::ops::Range<usize> = 11..13;
const KIB: u64 = 1024;

/// The use of a session's processes, from `/proc`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Used {
    /// Processes and threads.
    tasks: u64,
    /// Clock ticks.
    cpu: u64,
    /// Bytes.
    memory: u64,
    /// Open descriptors, if this user may count them.
    descriptors: u64,
    /// Files in the directory that the session fills, if this user may see it.
    files: u64,
    /// Their bytes.
    disk: u64,
}

pub(crate) struct Idle {
    /// From the answer to the next run, in seconds of the monotonic clock, which sessions share.
    pub(crate) time: [f64; 2],
    /// Forbidden use during that time.
    pub(crate) noticed: Vec<String>,
}

/// Watches a session for a while, and the directory `place` that it fills.
pub(crate) async fn look_on(host: &Host, place: Option<&str>) -> Idle {
    let begin = now();
    let before = used(host, place);
    tokio::time::sleep(TIME).await;
    let after = used(host, place);
    let mut noticed = before.more(after);
    if before.tasks == 0 {
        noticed.push("none of the attacker's processes can be seen".to_owned());
    }
    Idle {
        time: [begin, now()],
        noticed,
    }
}

fn now() -> f64 {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::try_from(now).unwrap_or_default().as_secs_f64()
}

impl Used {
    fn more(self, later: Used) -> Vec<String> {
        let figures = [
            ("tasks", self.tasks, later.tasks),
            ("ticks of CPU time", self.cpu, later.cpu),
            ("bytes of memory", self.memory, later.memory),
            ("descriptors", self.descriptors, later.descriptors),
            ("files", self.files, later.files),
            ("bytes of files", self.disk, later.disk),
        ];
        figures
            .into_iter()
            .filter(|(_, before, after)| after > before)
            .map(|(what, before, after)| format!("between two runs its {what} grew from {before} to {after}"))
            .collect()
    }
}

/// The total use of all processes with the attacker's name.
fn used(host: &Host, place: Option<&str>) -> Used {
    let mut used = Used::default();
    let processes = host.processes();
    for pid in &processes {
        let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let status = read("status");
        used.tasks += field(&status, "Threads:");
        used.memory += KIB * (field(&status, "RssAnon:") + field(&status, "RssShmem:"));
        used.cpu += ticks(&read("stat"));
        used.descriptors += fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, |all| all.count() as u64);
    }
    if let (Some(pid), Some(place)) = (processes.first(), place) {
        (used.files, used.disk) = files(Path::new(&format!("/proc/{pid}/root{place}")));
    }
    used
}

fn field(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

fn ticks(stat: &str) -> u64 {
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let times = after_name.split_whitespace().skip(TIMES.start).take(TIMES.len());
    times.filter_map(|time| time.parse::<u64>().ok()).sum()
}

/// The number of files in a directory, and their total size.
fn files(directory: &Path) -> (u64, u64) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| Some(entry.metadata().ok()?.len()));
    sizes.fold((0, 0), |(count, bytes), size| (count + 1, bytes + size))
}
