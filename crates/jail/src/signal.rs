//! Signals to a process by its pidfd, so that a reused number never hits a stranger.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::process::Signal;

/// Interrupts it, as Ctrl-C would.
///
/// # Errors
/// `NotFound` if it is gone.
pub fn interrupt(pidfd: BorrowedFd<'_>) -> io::Result<()> {
    Ok(rustix::process::pidfd_send_signal(pidfd.as_fd(), Signal::INT)?)
}

/// Kills it; as first process of a pid namespace it takes every other process of the namespace along.
///
/// # Errors
/// `NotFound` if it is gone.
pub fn kill(pidfd: BorrowedFd<'_>) -> io::Result<()> {
    Ok(rustix::process::pidfd_send_signal(pidfd.as_fd(), Signal::KILL)?)
}

/// Its number in this process's pid namespace; `None` if it is gone.
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

/// Restricts a process, and all that come from it, to as many whole cores as that rate needs; it may not choose others.
///
/// # Errors
/// If it is gone.
pub fn pin_to_rate(pid: u32, rate: f64) -> io::Result<()> {
    let cores = std::thread::available_parallelism()?.get();
    let enough = |count: &usize| f64::from(u32::try_from(*count).unwrap_or(u32::MAX)) >= rate;
    let count = (1..=cores).find(enough).unwrap_or(cores);
    let first = usize::try_from(pid).unwrap_or(0);
    let chosen: Vec<usize> = (0..count).map(|n| (first + n) % cores).collect();
    pin(pid, &chosen)
}

/// Restricts a process, and all that come from it, to these cores.
///
/// # Errors
/// If it is gone.
pub fn pin(pid: u32, cores: &[usize]) -> io::Result<()> {
    let mut set = rustix::thread::CpuSet::new();
    for core in cores {
        set.set(*core);
    }
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    Ok(rustix::thread::sched_setaffinity(pid, &set)?)
}
