//! The examination of this machine, for `codeyard doctor`.

use sandbox::Backend as _;
use sandbox_process::Process;

pub use sandbox_process::doctor::{Check, Report, State};

/// Examines the machine by starting a session as these settings would.
pub async fn examine(config: sandbox_process::Config) -> Report {
    let process = Process::new(config);
    let report = process.examine().await;
    process.close().await;
    report
}
