//! The session's files: opened for each request on a blocking thread, and as the evaluator of commands sees them.

use std::io::Read;

use constrained_shell::{EntryKind, FileEntry, VirtualPath};
use surfaces::FileRequestError;
use types::Limits;
use workspace::virtual_files::{self, FileError, FileLimits, FilePolicy, VirtualFiles};

use super::SessionTools;
use crate::files::blocking;

/// Files for `constrained_shell`.
pub(super) struct ShellFiles<'a>(pub(super) &'a VirtualFiles);

impl SessionTools {
    /// Makes the files below /tools current for a request with this text.
    pub(super) async fn prepare_tools(&self, text: &str) {
        let shared = &self.caller.shared;
        shared.files.prepare_tools(&self.caller.principal, text).await;
    }

    /// Does something with the session's files.
    pub(super) async fn on_files<T: Send + 'static>(
        &self,
        work: impl FnOnce(&VirtualFiles) -> Result<T, FileRequestError> + Send + 'static,
    ) -> Result<T, FileRequestError> {
        let shared = &self.caller.shared;
        let limits = shared.policy.limits_within(None).unwrap_or_default();
        let (workspaces, principal) = (shared.workspaces.clone(), self.caller.principal.clone());
        let (session, lease) = (shared.files.kept(&self.session()), self.lease.clone());
        let served = shared.served.as_ref();
        let policy = served.map_or_else(FilePolicy::default, |served| served.files.clone());
        let done = blocking(move || {
            let files = workspaces.virtual_files(&principal, &session, policy, file_limits(&limits))?;
            Self::keep(&lease, files.lease());
            work(&files)
        });
        done.await.unwrap_or(Err(FileRequestError::Interrupted))
    }

    /// Records a request that a policy or quota refused.
    pub(super) fn record(&self, error: &FileRequestError) {
        if let FileRequestError::File(error) = error
            && error.is_denial()
        {
            self.caller.shared.records.file_denied(None, &error.to_string());
        }
    }
}

fn file_limits(limits: &Limits) -> FileLimits {
    FileLimits {
        file: limits.file_size,
        total: limits.disk,
        ..FileLimits::default()
    }
}

// === impl ShellFiles ===

impl constrained_shell::VirtualFiles for ShellFiles<'_> {
    fn list(&self, directory: &VirtualPath) -> Result<Vec<FileEntry>, constrained_shell::FileError> {
        let entries = self.0.entries(&text(directory)).map_err(reason)?;
        let entry = |entry: virtual_files::DirectoryEntry| FileEntry {
            name: entry.name,
            kind: match entry.kind {
                virtual_files::EntryKind::Directory => EntryKind::Directory,
                virtual_files::EntryKind::File => EntryKind::File,
                virtual_files::EntryKind::Special => EntryKind::Special,
            },
        };
        Ok(entries.into_iter().map(entry).collect())
    }

    fn open(&self, file: &VirtualPath) -> Result<Box<dyn Read + '_>, constrained_shell::FileError> {
        Ok(Box::new(self.0.open(&text(file)).map_err(reason)?))
    }
}

/// Bytes that are not UTF-8 become U+FFFD, by which `workspace` finds the name again.
fn text(path: &VirtualPath) -> String {
    path.as_path().to_string_lossy().into_owned()
}

fn reason(error: FileError) -> constrained_shell::FileError {
    match error {
        FileError::Missing(_) => constrained_shell::FileError::Missing,
        FileError::Directory(_) => constrained_shell::FileError::IsDirectory,
        FileError::NotADirectory(_) => constrained_shell::FileError::NotDirectory,
        FileError::Link(_) | FileError::Special { .. } => constrained_shell::FileError::Denied,
        error if error.is_denial() => constrained_shell::FileError::Denied,
        error => constrained_shell::FileError::Failed(error.to_string()),
    }
}
