//! Lists and opens files for an evaluator of commands.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{self, AtFlags, Dir, DirEntry, FileType};

use super::read::{held, reason};
use super::{VirtualFiles, readable};
use crate::virtual_files::browse::MOST_SEEN;
use crate::virtual_files::error::FileError;
use crate::virtual_files::path::VirtualPath;
use crate::virtual_files::policy::Operation;

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// Any bytes but `/` and NUL.
    pub name: OsString,
    /// Kind of the entry itself, not of a link's target.
    pub kind: EntryKind,
}

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link, a socket, a device or a pipe.
    Special,
}

impl VirtualFiles {
    /// All entries of a directory, in any order. Those of `/` are the roots.
    ///
    /// # Errors
    /// If the path is not a readable directory.
    pub fn entries(&self, path: &str) -> Result<Vec<DirectoryEntry>, FileError> {
        let path = &VirtualPath::parse(path)?;
        if path.is_top() {
            let roots = self.roots.iter().map(|root| DirectoryEntry {
                name: root.name.into(),
                kind: EntryKind::Directory,
            });
            return Ok(roots.collect());
        }
        let (root, below) = self.root(path)?;
        self.policy.check(Operation::Read, path)?;
        let Some(top) = &root.directory else {
            return match below {
                "" => Ok(Vec::new()),
                _ => Err(FileError::Missing(path.shown())),
            };
        };
        let held = held(top.as_fd(), below).map_err(|cause| reason(path, cause))?;
        let stat = fs::fstat(&held).map_err(|cause| reason(path, cause))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {}
            FileType::Symlink => return Err(FileError::Link(path.shown())),
            _ => return Err(FileError::NotADirectory(path.shown())),
        }
        let directory = readable(held.as_fd()).ok_or_else(|| FileError::Denied {
            operation: Operation::Read,
            path: path.shown(),
        })?;
        let found = Dir::read_from(&directory).map_err(|cause| reason(path, cause))?;
        let mut entries = Vec::new();
        for found in found.take(MOST_SEEN) {
            let found = found.map_err(|cause| reason(path, cause))?;
            if found.file_name() != c"." && found.file_name() != c".." {
                entries.push(entry(directory.as_fd(), &found));
            }
        }
        Ok(entries)
    }

    /// Opens a regular file of any size for reading.
    ///
    /// # Errors
    /// If the path is not a readable file.
    pub fn open(&self, path: &str) -> Result<File, FileError> {
        let (file, _) = self.open_file(&VirtualPath::parse(path)?)?;
        Ok(file.into())
    }
}

fn entry(directory: BorrowedFd<'_>, found: &DirEntry) -> DirectoryEntry {
    let kind = match found.file_type() {
        FileType::Unknown => fs::statat(directory, found.file_name(), AtFlags::SYMLINK_NOFOLLOW)
            .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
        kind => kind,
    };
    DirectoryEntry {
        name: OsStr::from_bytes(found.file_name().to_bytes()).to_owned(),
        kind: match kind {
            FileType::Directory => EntryKind::Directory,
            FileType::RegularFile => EntryKind::File,
            _ => EntryKind::Special,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::ffi::OsStringExt as _;
    use std::os::unix::fs::symlink;

    use types::{Principal, SessionName};

    use super::*;
    use crate::virtual_files::{FileLimits, FilePolicy};
    use crate::{WorkspaceConfig, Workspaces};

    /// Names and kinds in order, or the message.
    fn listed(files: &VirtualFiles, path: &str) -> Result<Vec<(OsString, EntryKind)>, String> {
        let entries = files.entries(path).map_err(|error| error.to_string())?;
        let mut found: Vec<_> = entries
            .into_iter()
            .map(|entry| (entry.name, entry.kind))
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(found)
    }

    #[test]
    fn entries_have_their_own_kinds_and_links_lead_nowhere() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("secret"), "secret").unwrap();
        let workspaces = Workspaces::new(WorkspaceConfig::below(&home.path().join("data")));
        let principal: Principal = "ann".parse().unwrap();
        let session = SessionName::new("a");
        let own = workspaces.open(&principal, &session).unwrap();
        let files = workspaces
            .virtual_files(&principal, &session, FilePolicy::default(), FileLimits::default())
            .unwrap();
        let scratch = own.session.join("scratch");
        let odd = OsString::from_vec(vec![0xff]);
        std::fs::create_dir(scratch.join("d")).unwrap();
        std::fs::write(scratch.join("f"), "text").unwrap();
        std::fs::write(scratch.join(&odd), "odd").unwrap();
        symlink("/etc", scratch.join("l")).unwrap();
        symlink(home.path().join("secret"), scratch.join("s")).unwrap();
        let expected = vec![
            ("d".into(), EntryKind::Directory),
            ("f".into(), EntryKind::File),
            ("l".into(), EntryKind::Special),
            ("s".into(), EntryKind::Special),
            (odd, EntryKind::File),
        ];
        assert_eq!(listed(&files, "/scratch"), Ok(expected));
        assert_eq!(listed(&files, "/").map(|roots| roots.len()), Ok(4));
        assert_eq!(listed(&files, "/skills"), Ok(Vec::new()));
        for (path, error) in [
            ("/scratch/f", "Path is a file, not a directory: /scratch/f"),
            ("/scratch/nope", "Path not found: /scratch/nope"),
            ("/skills/x", "Path not found: /skills/x"),
            ("/etc", "Path '/etc' is outside the virtual filesystem"),
            ("/scratch/..", "EACCES: path traversal denied: /scratch/.."),
        ] {
            assert_eq!(listed(&files, path), Err(error.to_owned()));
        }
        assert!(listed(&files, "/scratch/l").is_err() && listed(&files, "/scratch/l/x").is_err());
        for (path, content) in [("/scratch/f", "text"), ("/scratch/\u{fffd}", "odd")] {
            let mut text = String::new();
            files.open(path).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, content);
        }
        for path in ["/scratch/s", "/scratch/l/passwd", "/scratch/d", "/", "/scratch"] {
            assert!(files.open(path).is_err(), "{path}");
        }
    }
}
