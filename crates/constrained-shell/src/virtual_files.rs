//! A session's files, implemented by the caller.

use std::ffi::OsString;
use std::io::Read;

use crate::failure::Failure;
use crate::path::VirtualPath;

/// A session's files, read only.
///
/// Symbolic links are never followed, neither at a path's end nor on the way. An implementation may hide more, by the
/// policy's rules.
pub trait VirtualFiles {
    /// The entries of a directory in any order, without `.` and `..`. `/` lists the session's roots.
    fn list(&self, directory: &VirtualPath) -> Result<Vec<FileEntry>, FileError>;

    /// Opens a regular file at its start, without blocking on another process.
    fn open(&self, file: &VirtualPath) -> Result<Box<dyn Read + '_>, FileError>;
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Any bytes but `/` and NUL.
    pub name: OsString,
    /// Kind of the entry itself, not of a link's target.
    pub kind: EntryKind,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link, a socket, a device or a pipe: listed, never opened.
    Special,
}

/// Why a path cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub enum FileError {
    /// No entry has that name.
    Missing,
    /// `open` on a directory.
    IsDirectory,
    /// `list` on a regular file.
    NotDirectory,
    /// The policy forbids it, or the path crosses a link or names a special file.
    Denied,
    /// Any other error: the system's message.
    Failed(String),
}

// === impl FileEntry ===

impl FileEntry {
    pub(crate) fn is_hidden(&self) -> bool {
        self.name.as_encoded_bytes().starts_with(b".")
    }
}

// === impl FileError ===

impl FileError {
    /// The failure for an operand. As in system 0, a missing file looks like a denied one.
    pub(crate) fn at(self, path: &VirtualPath) -> Failure {
        let path = path.to_string();
        match self {
            FileError::Failed(cause) => Failure::Unreadable { path, cause },
            FileError::Missing | FileError::IsDirectory | FileError::NotDirectory | FileError::Denied => {
                Failure::ReadDenied(path)
            }
        }
    }
}
