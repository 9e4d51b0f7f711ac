//! The examination of this machine, for `codeyard doctor`.

use sandbox::Backend as _;
use sandbox_landlock::Landlock;
use sandbox_process::Process;

pub use sandbox_process::doctor::{Check, Report, State};

/// Examines the machine by starting a session as these settings would.
pub async fn examine(backend: config::Backend, config: sandbox_process::Config) -> Report {
    match backend {
        config::Backend::Process => {
            let process = Process::new(config);
            let report = process.examine().await;
            process.close().await;
            report
        }
        config::Backend::Landlock => {
            let landlock = Landlock::new(config);
            let report = landlock.examine().await;
            landlock.close().await;
            report
        }
    }
}
