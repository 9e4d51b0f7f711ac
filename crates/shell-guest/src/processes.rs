//! The other processes of a session: found, killed and reaped by its first process.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait};

/// Time limit for killed processes to end. Then the host kills the rest, and the shell.
const ENDING: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_micros(200);

/// Kills every process of the session except this one and `kept`, repeatedly until none is left or the time limit
/// ends.
pub fn kill_others(kept: &[Pid]) {
    let deadline = Instant::now() + ENDING;
    loop {
        let others = others(kept);
        if others.is_empty() {
            return;
        }
        for other in others {
            // The process may have just ended.
            let _ = kill_process(other, Signal::KILL);
        }
        reap();
        if Instant::now() > deadline {
            return;
        }
        std::thread::sleep(PAUSE);
        reap();
    }
}

/// Kills every process of the session except this one and `kept`, once, without waiting.
pub fn kill_programs(kept: &[Pid]) {
    for other in others(kept) {
        // The process may have just ended.
        let _ = kill_process(other, Signal::KILL);
    }
}

/// Reaps every ended child; returns the status of `wanted`, if it is among them.
pub fn reap_for(wanted: Pid) -> Option<u8> {
    let mut found = None;
    while let Ok(Some((ended, status))) = wait(WaitOptions::NOHANG) {
        if ended == wanted {
            let signal = || status.terminating_signal().map(|signal| 128 + signal);
            let number = status.exit_status().or_else(signal);
            found = number.and_then(|number| u8::try_from(number).ok());
        }
    }
    found
}

fn reap() {
    while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
}

/// The processes of this pid namespace, from its `/proc`. Without its own namespace, a session sees no processes; the
/// host kills them.
fn others(kept: &[Pid]) -> Vec<Pid> {
    let own = rustix::process::getpid();
    if own != Pid::INIT {
        return Vec::new();
    }
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
        .filter(|pid| *pid != own && !kept.contains(pid))
        .collect()
}
