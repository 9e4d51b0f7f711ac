//! What H sees of the attacker's session between two runs: nothing of it may act or grow.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::host::Host;

/// How long H looks on; what acts without a pause or every ten milliseconds comes to act many times.
const TIME: Duration = Duration::from_millis(300);
/// The fields of `/proc/PID/stat` after the name that hold CPU time: of the process itself, in user and system mode.
const TIMES: std::ops::Range<usize> = 11..13;
const KIB: u64 = 1024;

/// What the processes of a session use, as `/proc` says it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Used {
    /// Processes and threads.
    tasks: u64,
    /// Ticks of the clock.
    cpu: u64,
    /// Bytes.
    memory: u64,
    /// Open descriptors, where this user may count them.
    descriptors: u64,
    /// Files in the directory that it fills, where this user may see it.
    files: u64,
    /// Their bytes.
    disk: u64,
}

/// A time between two runs.
pub(crate) struct Idle {
    /// From the answer until the next run, in seconds of the monotonic clock, which sessions share.
    pub(crate) time: [f64; 2],
    /// What the session used then that it must not.
    pub(crate) noticed: Vec<String>,
}

/// Looks on for a while at a session that fills `place`, if it fills one.
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
    /// What there is more of later, in words.
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

/// What all processes that have the attacker's name use together.
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

/// The first number of a line of `/proc/PID/status`.
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

/// How many files lie in a directory, and how large they are together.
fn files(directory: &Path) -> (u64, u64) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| Some(entry.metadata().ok()?.len()));
    sizes.fold((0, 0), |(count, bytes), size| (count + 1, bytes + size))
}
