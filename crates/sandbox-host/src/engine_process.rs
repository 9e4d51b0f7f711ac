//! The engine of a session as a process of its own, which outlives the runs: stopped after each, continued by the next.

use std::os::fd::{AsFd, OwnedFd};

use crate::open_files::is_readable;
use crate::process_tree;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// The engine's number in its session, unless the guest reports another: the first process that the session's first one
/// starts, before any program runs.
pub const FIRST_ENGINE: u32 = 2;

/// The engine of one session.
#[derive(Debug)]
pub struct EngineProcess {
    /// As the host sees it.
    pub pid: u32,
    /// In its session.
    number: u32,
    process: OwnedFd,
}

impl EngineProcess {
    /// Finds the process with this number in the session whose first process is `first`; `None` if it has ended.
    pub fn of(first: u32, number: u32) -> Option<Self> {
        let pid = process_tree::descendant_numbered(first, number)?;
        let found = Pid::from_raw(i32::try_from(pid).ok()?)?;
        let process = pidfd_open(found, PidfdFlags::empty()).ok()?;
        // The process may have ended, and its pid be another's.
        (process_tree::descendant_numbered(first, number) == Some(pid)).then_some(Self {
            pid,
            number,
            process,
        })
    }

    /// Whether this is the process with this number, and has not ended.
    pub fn is_numbered(&self, number: u32) -> bool {
        self.number == number && !self.has_ended()
    }

    /// Whether the process has ended, reaped or not.
    pub fn has_ended(&self) -> bool {
        is_readable(&self.process)
    }

    /// Stops all threads of the engine.
    pub fn stop(&self) {
        // The process may have just ended.
        let _ = jail::signal::stop(self.process.as_fd());
    }

    /// Continues the engine.
    pub fn resume(&self) {
        // The process may have just ended.
        let _ = jail::signal::resume(self.process.as_fd());
    }
}
