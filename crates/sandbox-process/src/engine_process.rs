//! The engine of a session as a process of its own, which outlives the runs: stopped after each, continued by the next.

use std::os::fd::{AsFd, OwnedFd};

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use sandbox_host::process_tree;

/// The engine's pid in its session: the first process that the session's first one starts, before any program runs.
const PID_INSIDE: u32 = 2;

/// The engine of one session.
#[derive(Debug)]
pub struct EngineProcess {
    /// As the host sees it.
    pub pid: u32,
    process: OwnedFd,
}

impl EngineProcess {
    /// Finds the engine of the session whose first process is `first`; `None` if it has ended.
    pub fn of(first: u32) -> Option<Self> {
        let pid = process_tree::child_numbered(first, PID_INSIDE)?;
        let number = Pid::from_raw(i32::try_from(pid).ok()?)?;
        let process = pidfd_open(number, PidfdFlags::empty()).ok()?;
        Some(Self { pid, process })
    }

    pub fn stop(&self) {
        // The process may have just ended.
        let _ = jail::signal::stop(self.process.as_fd());
    }

    pub fn resume(&self) {
        // The process may have just ended.
        let _ = jail::signal::resume(self.process.as_fd());
    }
}
