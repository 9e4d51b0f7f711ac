//! Errors of listing, reading and writing: the original's messages, and additional ones.

use std::fmt;
use std::io;

use crate::virtual_files::policy::Operation;

/// Maximum characters of a path in a message.
const MAX_SHOWN: usize = 300;

/// Why a request on virtual files failed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message says what it is")]
pub enum FileError {
    #[error("path is required")]
    PathRequired,
    #[error("content is required")]
    ContentRequired,
    #[error("EACCES: invalid path")]
    InvalidPath,
    #[error("Path too long ({length} bytes, limit {most}): {path}")]
    PathTooLong {
        path: ShownPath,
        length: usize,
        most: usize,
    },
    #[error("Path too deep ({levels} directories, limit {most}): {path}")]
    PathTooDeep {
        path: ShownPath,
        levels: usize,
        most: usize,
    },
    #[error("EACCES: path traversal denied: {0}")]
    Traversal(ShownPath),
    #[error("Path '{0}' is outside the virtual filesystem")]
    Outside(ShownPath),
    #[error("EACCES: {operation} denied for path: {path}")]
    Denied { operation: Operation, path: ShownPath },
    #[error("EACCES: write denied for path: {0}. Only /scratch and /results are writable.")]
    NotWritable(ShownPath),
    #[error("Path not found: {0}")]
    Missing(ShownPath),
    #[error("Path is a directory, not a file: {0}. Use fs_browse to list directories.")]
    Directory(ShownPath),
    #[error("Path is a file, not a directory: {0}")]
    NotADirectory(ShownPath),
    #[error("Path is a symbolic link or leads through one: {0}. Links are not followed.")]
    Link(ShownPath),
    #[error("Path is {kind}, not a file: {path}")]
    Special { path: ShownPath, kind: &'static str },
    #[error("Path has {names} names (hard links): {path}. Copy it to a file of its own.")]
    Linked { path: ShownPath, names: u64 },
    #[error("File is not UTF-8 text ({size} bytes): {path}. Use shell_exec to read binary files.")]
    NotText { path: ShownPath, size: u64 },
    #[error(
        "File too large ({size} bytes, limit {most}). Use shell_exec to read large files with custom parsing."
    )]
    TooLarge { size: u64, most: u64 },
    #[error("Content too large ({size} bytes, limit {most}). Reduce content size.")]
    ContentTooLarge { size: u64, most: u64 },
    #[error("EACCES: file size limit exceeded at {0}")]
    FileTooLarge(ShownPath),
    #[error("EACCES: total disk usage limit exceeded")]
    DiskFull,
    #[error("Path is in use by a program: {0}. Try again.")]
    Busy(ShownPath),
    #[error("{path}: {cause}")]
    System { path: ShownPath, cause: io::Error },
}

/// A path for messages: unprintable characters escaped, and shortened if long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownPath(String);

// === impl FileError ===

impl FileError {
    /// Whether a policy or quota refused the request. Such a request is a security event.
    pub fn is_denial(&self) -> bool {
        matches!(
            self,
            FileError::InvalidPath
                | FileError::Traversal(_)
                | FileError::Outside(_)
                | FileError::Denied { .. }
                | FileError::NotWritable(_)
                | FileError::FileTooLarge(_)
                | FileError::DiskFull
        )
    }
}

// === impl ShownPath ===

impl ShownPath {
    pub(super) fn new(path: &str) -> ShownPath {
        let cut: String = path.chars().take(MAX_SHOWN).collect();
        let dots = if cut.len() < path.len() { "…" } else { "" };
        ShownPath(types::spelled_out(&cut) + dots)
    }
}

impl fmt::Display for ShownPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
