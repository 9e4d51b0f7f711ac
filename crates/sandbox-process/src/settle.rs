//! The end of a run: what it started dies, and the guest's first process stands still with all of its threads.
//!
//! What is about to die can still wake the guest (`SIGCONT`), and a guest that is awake starts more. So the host stops and
//! kills until nothing else was alive before and after a moment at which the guest stood still.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::census;

/// How long one order to kill may take.
pub const DEADLINE: Duration = Duration::from_secs(2);
/// How long threads may take to stop, and processes to die. What has used up its CPU rate waits for its turn to do so.
const LONGEST: Duration = Duration::from_secs(5);
/// Time between two looks at them.
const PAUSE: Duration = Duration::from_millis(1);

/// One run's end, from the first stop until it is over.
#[derive(Debug)]
pub struct Settling {
    first: u32,
    spared: u32,
    deadline: Instant,
}

impl Settling {
    /// Of the processes that came from `root`, all but `root` and `first` have to end, and `first` has to stand still.
    pub fn new(root: u32, first: u32) -> Self {
        Self {
            first,
            spared: root,
            deadline: Instant::now() + LONGEST,
        }
    }

    /// Whether the run is over.
    pub fn is_over(&self) -> bool {
        !self.has_others() && census::has_stopped(self.first) && !self.has_others()
    }

    /// Whether something is alive that has to end.
    pub fn has_others(&self) -> bool {
        !self.others().is_empty()
    }

    /// Kills one after another what has to end, each as soon as it is found.
    pub fn kill_each(&self) {
        census::for_each(self.spared, |pid| {
            if pid != self.first && pid != self.spared {
                jail::signal::kill_number(pid);
            }
        });
    }

    /// Waits a moment.
    ///
    /// # Errors
    /// What is not over, after [`LONGEST`].
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
        census::others(self.spared, self.first)
    }
}
