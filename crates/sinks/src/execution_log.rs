//! The execution log: one line of JSON for each record, in a file that is rotated.

mod line;
mod log_file;

use std::io;

use store::sinks::SentRecord;
use tokio::task::JoinHandle;

use crate::config::FileTarget;
use crate::error::SendError;
use log_file::LogFile;

/// One log. Its file is opened for each batch, so that it may be moved away at any time.
#[derive(Debug)]
pub(crate) struct ExecutionLog {
    target: FileTarget,
    /// The last batch, which may outlive its time limit. A disk may hang, which must not stop other tasks or take further
    /// threads.
    appending: Option<JoinHandle<io::Result<()>>>,
}

// === impl ExecutionLog ===

impl ExecutionLog {
    pub(crate) fn new(target: FileTarget) -> ExecutionLog {
        ExecutionLog {
            target,
            appending: None,
        }
    }

    /// Appends a line for each record, or nothing.
    pub(crate) async fn send(&mut self, records: &[SentRecord]) -> Result<(), SendError> {
        if self.appending.as_ref().is_some_and(|last| !last.is_finished()) {
            return Err(SendError::unavailable("the disk does not answer"));
        }
        let mut lines = Vec::new();
        for record in records {
            line::write(record, &mut lines).map_err(SendError::unavailable)?;
        }
        let file = LogFile::new(self.target.clone());
        let appending = tokio::task::spawn_blocking(move || file.append(&lines));
        let appended = self.appending.insert(appending).await;
        self.appending = None;
        appended
            .map_err(SendError::unavailable)?
            .map_err(|error| SendError::unavailable(describe(&error)))
    }
}

/// The failure with its remedy.
fn describe(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            format!("{error}; free some space, or lower `max_size` and `max_files`")
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            format!("{error}; let this user write to the directory, or name another in `file`")
        }
        _ => error.to_string(),
    }
}
