//! The examination of this machine, for `codeyard doctor`.

use sandbox_process::Process;

pub use sandbox_process::doctor::{Check, Report, State};

/// Examines the machine by starting a session as these settings would.
pub async fn examine(config: sandbox_process::Config) -> Report {
    Process::new(config).examine().await
}
