//! Cleans up after a run: kills the processes that the run started, and stops the guest's first process and its engine
//! with all their threads.
//!
//! A dying process can still wake the guest (`SIGCONT`), and an awake guest starts more processes. So the host repeats
//! stopping and killing. The cleanup ends when the host sees the guest stopped, with no other process before and after
//! that moment.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::process_tree;

/// Time limit of one order to kill.
pub const DEADLINE: Duration = Duration::from_secs(2);
/// Time limit of the whole cleanup. A process over its CPU rate dies only when the kernel schedules it again.
const TIME_LIMIT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(1);

/// The cleanup after one run.
#[derive(Debug)]
pub struct RunCleanup {
    root: u32,
    /// The first process, and the engine if it is separate.
    kept: Vec<u32>,
    deadline: Instant,
}

impl RunCleanup {
    /// Starts a cleanup after which `first` is stopped and all descendants of `root` except `first` have ended.
    pub fn new(root: u32, first: u32) -> Self {
        Self {
            root,
            kept: vec![first],
            deadline: Instant::now() + TIME_LIMIT,
        }
    }

    /// Keeps this process, too, once it is stopped.
    pub fn keeping(mut self, engine: u32) -> Self {
        self.kept.push(engine);
        self
    }

    /// Whether only the stopped first process and the engine remain.
    pub fn is_done(&self) -> bool {
        let have_stopped = || self.kept.iter().all(|kept| process_tree::has_stopped(*kept));
        !self.has_others() && have_stopped() && !self.has_others()
    }

    /// Whether a process that must end is still alive.
    pub fn has_others(&self) -> bool {
        !self.others().is_empty()
    }

    /// Kills the processes that must end, each as soon as it is found.
    pub fn kill_each(&self) {
        process_tree::for_each(self.root, |pid| {
            if pid != self.root && !self.kept.contains(&pid) {
                jail::signal::kill_number(pid);
            }
        });
    }

    /// Waits before the next check.
    ///
    /// # Errors
    /// The remaining processes, after the time limit.
    pub async fn pause(&self) -> Result<(), String> {
        if Instant::now() > self.deadline {
            return Err(match self.others().len() {
                0 => "its threads do not stop".to_owned(),
                count => format!("{count} of its processes do not end"),
            });
        }
        sleep(PAUSE).await;
        Ok(())
    }

    fn others(&self) -> Vec<u32> {
        process_tree::descendants(self.root, &self.kept)
    }
}
