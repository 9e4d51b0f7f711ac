//! The process of a session's separate engine, which outlives runs: stopped after each run, continued by the next.

use std::os::fd::{AsFd, OwnedFd};

use crate::open_files::is_readable;
use crate::process_tree;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// The engine's default number in its session: the first process that the session's first process starts, before any
/// program runs. The guest may report another number.
pub const FIRST_ENGINE: u32 = 2;

/// The engine of one session.
#[derive(Debug)]
pub struct EngineProcess {
    /// On the host.
    pub pid: u32,
    /// In its session.
    number: u32,
    process: OwnedFd,
}

impl EngineProcess {
    /// Finds the process with this number in the session whose first process is `first`; `None` if the process has
    /// ended.
    pub fn of(first: u32, number: u32) -> Option<Self> {
        let pid = process_tree::descendant_numbered(first, number)?;
        let found = Pid::from_raw(i32::try_from(pid).ok()?)?;
        let process = pidfd_open(found, PidfdFlags::empty()).ok()?;
        // The process may have ended, and its pid been reused.
        (process_tree::descendant_numbered(first, number) == Some(pid)).then_some(Self {
            pid,
            number,
            process,
        })
    }

    /// Whether this process has this number and has not ended.
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
