//! Which process wrote a row, and whether it still lives.

use std::fs;

/// What tells one process from every other on this machine, also from a later one with the same number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) pid: i64,
    /// The namespace that the number belongs to; empty where it cannot be read.
    pub(crate) pid_namespace: String,
    /// Clock ticks from the start of the machine to that of the process.
    pub(crate) started_ticks: i64,
    /// Which start of the machine; empty where it cannot be read.
    pub(crate) boot: String,
}

// === impl Identity ===

impl Identity {
    /// This process.
    pub(crate) fn own() -> Identity {
        let pid = i64::from(std::process::id());
        Identity {
            pid,
            pid_namespace: own_namespace(),
            started_ticks: started_ticks(pid).unwrap_or_default(),
            boot: own_boot(),
        }
    }

    /// Whether the process lives, as far as can be told from here: what cannot be told counts as living.
    pub(crate) fn lives(&self) -> bool {
        if self.boot != own_boot() {
            return false;
        }
        self.pid_namespace != own_namespace() || started_ticks(self.pid) == Some(self.started_ticks)
    }
}

fn own_namespace() -> String {
    let link = fs::read_link("/proc/self/ns/pid");
    link.map(|link| link.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn own_boot() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    boot.map(|boot| boot.trim().to_owned()).unwrap_or_default()
}

/// Field 22 of the process's `stat`; the name before it may hold anything, also parentheses. `None` if there is no such
/// process, or only what its parent has not yet looked at.
fn started_ticks(pid: i64) -> Option<i64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_very_process_lives() {
        let own = Identity::own();
        assert!(own.started_ticks > 0 && own.lives(), "{own:?}");
        let later = Identity {
            started_ticks: own.started_ticks + 1,
            ..own.clone()
        };
        assert!(!later.lives());
        let before_restart = Identity {
            boot: "another".to_owned(),
            ..own.clone()
        };
        assert!(!before_restart.lives());
        let unseen = Identity {
            pid_namespace: "pid:[1]".to_owned(),
            ..later
        };
        assert!(unseen.lives());
    }
}
