//! Control groups of servers that have limits: made with the first one, gone with the last.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

use jail::cgroup::{Bounds, Disks, Group, Groups};

use crate::config::ServerLimits;

/// What stands for no limit: more than any machine has, and not too much for the kernel's files.
const NO_MEMORY_LIMIT: u64 = 1 << 60;
const NO_PROCESS_LIMIT: u32 = 4_000_000;
const NO_CPU_LIMIT: f64 = 4096.0;

/// The groups of one hub's servers.
#[derive(Debug, Default)]
pub(crate) struct ServerGroups {
    made: Mutex<Made>,
}

#[derive(Debug, Default)]
struct Made {
    groups: Weak<Groups>,
    count: u64,
}

/// The group of one life of a server. Dropping it removes the group, if its processes are gone.
#[derive(Debug)]
pub(crate) struct Bound {
    group: Group,
    limits: ServerLimits,
    /// The last one takes the parent with it, and what is left below.
    _groups: Arc<Groups>,
}

impl ServerGroups {
    /// Makes a group with these limits.
    ///
    /// # Errors
    /// Why there is none, in words that end with the remedy.
    pub(crate) fn bind(&self, limits: ServerLimits) -> Result<Bound, String> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let groups = match made.groups.upgrade() {
            Some(groups) => groups,
            None => Arc::new(
                Groups::prepare(&unique_name(), Disks::default()).map_err(|missing| missing.to_string())?,
            ),
        };
        made.groups = Arc::downgrade(&groups);
        made.count += 1;
        let bounds = Bounds {
            memory: limits.memory.unwrap_or(NO_MEMORY_LIMIT),
            processes: limits.processes.unwrap_or(NO_PROCESS_LIMIT),
            cpu_rate: NO_CPU_LIMIT,
            disk_rate: None,
        };
        let group = groups
            .create(&made.count.to_string(), bounds)
            .map_err(|error| error.to_string())?;
        Ok(Bound {
            group,
            limits,
            _groups: groups,
        })
    }
}

/// A name that no other process uses, in whatever container it is.
fn unique_name() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("servers-{:x}-{:x}", std::process::id(), now.as_nanos())
}

// === impl Bound ===

impl Bound {
    pub(crate) fn directories(&self) -> Vec<PathBuf> {
        self.group.directories()
    }

    /// What the limits had to do with the end of a server, to be appended to how it ended.
    pub(crate) fn remark(&self) -> String {
        match (self.group.usage().out_of_memory, self.limits.memory) {
            (0, _) | (_, None) => String::new(),
            (_, Some(memory)) => {
                format!(
                    "; it took more memory than the {memory} bytes of `limits.memory`, and the kernel ended processes of it"
                )
            }
        }
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        // What is still ending goes with the parent.
        self.group.remove();
    }
}
