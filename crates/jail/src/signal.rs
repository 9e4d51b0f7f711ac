//! Signals to a process by its pidfd, so that a reused pid never hits another process.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::process::{Pid, Signal};
use rustix::thread::CpuSet;

/// Interrupts the process, as Ctrl-C would.
///
/// # Errors
/// `NotFound` if the process is gone.
pub fn interrupt(pidfd: BorrowedFd<'_>) -> io::Result<()> {
    Ok(rustix::process::pidfd_send_signal(pidfd.as_fd(), Signal::INT)?)
}

/// Kills the process. Killing the first process of a pid namespace kills every other process of the namespace.
///
/// # Errors
/// `NotFound` if the process is gone.
pub fn kill(pidfd: BorrowedFd<'_>) -> io::Result<()> {
    Ok(rustix::process::pidfd_send_signal(pidfd.as_fd(), Signal::KILL)?)
}

/// Kills a process by pid; the process may have just ended. Use it only for descendants whose parents are stopped or
/// killed too, so that the kernel cannot have reused the pid.
pub fn kill_number(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // The process may have just ended.
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}

/// Stops all threads of the process until [`resume`]; no process can refuse.
///
/// # Errors
/// `NotFound` if the process is gone.
pub fn stop(pidfd: BorrowedFd<'_>) -> io::Result<()> {
    Ok(rustix::process::pidfd_send_signal(pidfd.as_fd(), Signal::STOP)?)
}

/// Continues a stopped process.
///
/// # Errors
/// `NotFound` if the process is gone.
pub fn resume(pidfd: BorrowedFd<'_>) -> io::Result<()> {
    Ok(rustix::process::pidfd_send_signal(pidfd.as_fd(), Signal::CONT)?)
}

/// The pid in this process's pid namespace; `None` if the process is gone.
///
/// # Errors
/// If /proc cannot be read.
pub fn pid(pidfd: BorrowedFd<'_>) -> io::Result<Option<u32>> {
    use std::os::fd::AsRawFd;
    let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", pidfd.as_raw_fd()))?;
    let number = text
        .lines()
        .find_map(|line| line.strip_prefix("Pid:"))
        .and_then(|rest| rest.trim().parse().ok());
    Ok(number)
}

/// Pins a process and its descendants to as many whole cores as the rate needs. A guest cannot choose other cores.
///
/// # Errors
/// If the process is gone.
pub fn pin_to_rate(pid: u32, rate: f64) -> io::Result<()> {
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
    // The cores that the process may use, which need not be the machine's first cores.
    let allowed = rustix::thread::sched_getaffinity(process)?;
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU)
        .filter(|core| allowed.is_set(*core))
        .collect();
    let mut set = CpuSet::new();
    for core in chosen(&cores, pid, rate) {
        set.set(core);
    }
    Ok(rustix::thread::sched_setaffinity(process, &set)?)
}

/// As many cores as the rate needs, starting at a core that depends on the pid.
fn chosen(cores: &[usize], pid: u32, rate: f64) -> impl Iterator<Item = usize> {
    let enough = |count: &usize| f64::from(u32::try_from(*count).unwrap_or(u32::MAX)) >= rate;
    let count = (1..=cores.len()).find(enough).unwrap_or(cores.len());
    let first = usize::try_from(pid)
        .unwrap_or(0)
        .checked_rem(cores.len())
        .unwrap_or(0);
    cores.iter().copied().cycle().skip(first).take(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn chooses(cores: &[usize], pid: u32, rate: f64, expected: &[usize]) {
        let chosen: Vec<usize> = chosen(cores, pid, rate).collect();
        assert_eq!(chosen, expected);
    }

    #[test]
    fn as_many_cores_are_chosen_as_the_rate_needs() {
        chooses(&[4, 5, 9], 30, 1.0, &[4]);
        chooses(&[4, 5, 9], 31, 1.5, &[5, 9]);
        chooses(&[4, 5, 9], 32, 2.0, &[9, 4]);
        chooses(&[4, 5, 9], 32, 64.0, &[9, 4, 5]);
        chooses(&[1], 7, 0.1, &[1]);
        chooses(&[], 7, 1.0, &[]);
    }

    #[test]
    fn a_process_is_pinned_within_the_cores_that_it_has() {
        // Each test has its own thread, so pinning affects no other test.
        let all = rustix::thread::sched_getaffinity(None).unwrap();
        let last = (0..CpuSet::MAX_CPU).rfind(|core| all.is_set(*core)).unwrap();
        let mut only = CpuSet::new();
        only.set(last);
        rustix::thread::sched_setaffinity(None, &only).unwrap();
        let thread = rustix::thread::gettid().as_raw_nonzero().get();
        pin_to_rate(thread.try_into().unwrap(), 1.0).unwrap();
        let left = rustix::thread::sched_getaffinity(None).unwrap();
        assert!(left.is_set(last) && left.count() == 1);
    }
}
