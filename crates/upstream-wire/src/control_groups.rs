//! Control groups of servers with limits.
//!
//! The first server makes their parent group, the last one removes it.

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

use jail::cgroup::{Bounds, Disks, Group, Groups};
use parking_lot::Mutex;

use crate::definition::ServerLimits;

/// Stand for "no limit": more than any machine has, and accepted by the kernel's files.
const NO_MEMORY_LIMIT: u64 = 1 << 60;
const NO_PROCESS_LIMIT: u32 = 4_000_000;
const NO_CPU_LIMIT: f64 = 4096.0;

/// Makes the control groups of one hub's servers.
#[derive(Debug, Default)]
pub struct ControlGroups {
    made: Mutex<Made>,
}

#[derive(Debug, Default)]
struct Made {
    groups: Weak<Groups>,
    count: u64,
}

/// Dropping it removes the group, if its processes have ended.
#[derive(Debug)]
pub(crate) struct ControlGroup {
    group: Group,
    limits: ServerLimits,
    /// The last reference removes the parent group and everything below it.
    _parent: Arc<Groups>,
}

impl ControlGroups {
    /// Makes a control group with these limits.
    ///
    /// # Errors
    /// The cause and the remedy.
    pub(crate) fn create(&self, limits: ServerLimits) -> Result<ControlGroup, String> {
        let mut made = self.made.lock();
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
        Ok(ControlGroup {
            group,
            limits,
            _parent: groups,
        })
    }
}

/// Unique across containers, too.
fn unique_name() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("servers-{:x}-{:x}", std::process::id(), now.as_nanos())
}

// === impl ControlGroup ===

impl ControlGroup {
    pub(crate) fn directories(&self) -> Vec<PathBuf> {
        self.group.directories()
    }

    /// The exceeded limit, as a suffix for the description of the server's end; empty if none.
    pub(crate) fn exceeded_limit(&self) -> String {
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

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // While processes are still ending, the group stays; removing the parent removes it.
        self.group.remove();
    }
}
