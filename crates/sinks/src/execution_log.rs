//! The execution log: one line of JSON for each record, in a file that is rotated.

mod line;
mod log_file;

use crate::config::FileTarget;
use crate::error::SendError;
use log_file::LogFile;
use store::sinks::SentRecord;

/// One log. Its file is opened for each batch, so that it may be moved away at any time.
#[derive(Debug)]
pub(crate) struct ExecutionLog {
    target: FileTarget,
}

// === impl ExecutionLog ===

impl ExecutionLog {
    pub(crate) fn new(target: FileTarget) -> ExecutionLog {
        ExecutionLog { target }
    }

    /// Appends a line for each record, or nothing.
    pub(crate) async fn send(&self, records: &[SentRecord]) -> Result<(), SendError> {
        let mut lines = Vec::new();
        for record in records {
            line::write(record, &mut lines).map_err(SendError::unavailable)?;
        }
        let file = LogFile::new(self.target.clone());
        // A disk may hang, which must not stop other tasks.
        let appended = tokio::task::spawn_blocking(move || file.append(&lines));
        appended
            .await
            .map_err(SendError::unavailable)?
            .map_err(|error| SendError::unavailable(describe(&error)))
    }
}

/// The failure with its remedy.
fn describe(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            format!("{error}; free some space, or lower `max_size` and `max_files`")
        }
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            format!("{error}; let this user write to the directory, or name another in `file`")
        }
        _ => error.to_string(),
    }
}
