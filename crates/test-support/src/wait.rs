//! Waits for conditions instead of fixed times.

use std::path::Path;
use std::time::{Duration, Instant};

/// Longest wait; generous, because tests share the machine.
const LIMIT: Duration = Duration::from_secs(30);
const STEP: Duration = Duration::from_millis(5);

/// Waits until the condition returns a value; panics with `what` if it never does.
pub async fn wait_until<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(start.elapsed() < LIMIT, "waited {LIMIT:?} until {what}");
        tokio::time::sleep(STEP).await;
    }
}

/// Whether no process of this number runs (a zombie does not run).
pub fn is_gone(pid: u32) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
    match stat {
        Ok(stat) => stat
            .rsplit_once(')')
            .is_some_and(|(_, state)| state.trim_start().starts_with('Z')),
        Err(_) => true,
    }
}
