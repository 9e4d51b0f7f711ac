//! What a caller implements for the evaluator: a session's files.

use std::ffi::OsString;
use std::io::Read;

use crate::failure::Failure;
use crate::path::VirtualPath;

/// A session's files, read only.
///
/// Nothing is followed: no symbolic link, neither at a path's end nor on the way. An implementation may hide more, by
/// the policy's rules.
pub trait VirtualFiles {
    /// The entries of a directory in any order, without `.` and `..`. Those of `/` are the roots that the session has.
    fn list(&self, directory: &VirtualPath) -> Result<Vec<FileEntry>, FileError>;

    /// Opens a regular file for reading from its start, without waiting for another process.
    fn open(&self, file: &VirtualPath) -> Result<Box<dyn Read + '_>, FileError>;
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Any bytes but `/` and NUL.
    pub name: OsString,
    /// Of the entry itself, also where it is a link.
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

/// Why a path is not read.
#[derive(Debug, PartialEq, Eq)]
pub enum FileError {
    /// Nothing has that name.
    Missing,
    /// It was to be opened, and is a directory.
    IsDirectory,
    /// It was to be listed, and is a regular file.
    NotDirectory,
    /// The policy forbids it, or the path leads over a link or to a special file.
    Denied,
    /// The system's message, for anything else.
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
    /// Why a path that the line names is not read. As in system 0, a missing file looks like one that is denied.
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
