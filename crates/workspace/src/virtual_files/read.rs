//! Reads text files, and resolves virtual paths.

use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::time::SystemTime;

use std::ffi::OsStr;

use rustix::fs::{self, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::{Access, VirtualFiles, find, readable, size_of};
use crate::confined::{self, WITHIN};
use crate::directory::{kind, modified_at};
use crate::virtual_files::error::FileError;
use crate::virtual_files::path::VirtualPath;
use crate::virtual_files::policy::Operation;

/// Replaces bytes outside UTF-8.
const UNREADABLE: char = char::REPLACEMENT_CHARACTER;

/// Maximum number of names compared with a name outside UTF-8.
const MOST_COMPARED: usize = 10_000;

/// A file's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileText {
    /// The normalized path.
    pub path: String,
    /// The whole content.
    pub content: String,
    /// Bytes of the content.
    pub size_bytes: u64,
    /// Last change.
    pub modified_at: SystemTime,
}

impl VirtualFiles {
    /// Reads a text file.
    ///
    /// # Errors
    /// If the path is not a readable file, or the file is too large or not UTF-8.
    pub fn read(&self, path: &str) -> Result<FileText, FileError> {
        if path.trim().is_empty() {
            return Err(FileError::PathRequired);
        }
        find(path, |path| self.read_at(path))
    }

    fn read_at(&self, path: &VirtualPath) -> Result<FileText, FileError> {
        let (file, stat) = self.open_file(path)?;
        let most = self.limits.read;
        if size_of(&stat) > most {
            return Err(FileError::TooLarge {
                size: size_of(&stat),
                most,
            });
        }
        let mut content = Vec::new();
        let mut file = std::fs::File::from(file);
        // The file may grow during the read.
        let read = file
            .by_ref()
            .take(most.saturating_add(1))
            .read_to_end(&mut content);
        read.map_err(|cause| system(path, cause))?;
        let size = u64::try_from(content.len()).unwrap_or(u64::MAX);
        let now = fs::fstat(&file).map_err(|cause| reason(path, cause))?;
        if size > most {
            return Err(FileError::TooLarge {
                size: size.max(size_of(&now)),
                most,
            });
        }
        let content = String::from_utf8(content).map_err(|_| FileError::NotText {
            path: path.shown(),
            size,
        })?;
        Ok(FileText {
            path: path.text().to_owned(),
            content,
            size_bytes: size,
            modified_at: modified_at(&now),
        })
    }

    /// Opens a regular file.
    pub(super) fn open_file(&self, path: &VirtualPath) -> Result<(OwnedFd, Stat), FileError> {
        let directory = || FileError::Directory(path.shown());
        if path.is_top() {
            return Err(directory());
        }
        let (root, below) = self.root(path)?;
        self.policy.check(Operation::Read, path)?;
        if below.is_empty() {
            return Err(directory());
        }
        let Some(top) = &root.directory else {
            return Err(FileError::Missing(path.shown()));
        };
        // Check the kind before opening: opening a FIFO would wake a program that waits for a reader.
        let held = held(top.as_fd(), below).map_err(|cause| reason(path, cause))?;
        let stat = fs::fstat(&held).map_err(|cause| reason(path, cause))?;
        check_kind(path, &stat, root.access)?;
        // Open the descriptor's own entry, which no program can replace.
        let same = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&held));
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = fs::open(same, flags, Mode::empty()).map_err(|cause| reason(path, cause))?;
        Ok((file, stat))
    }
}

/// Checks that a file's content may be read.
pub(super) fn check_kind(path: &VirtualPath, stat: &Stat, access: Access) -> Result<(), FileError> {
    match FileType::from_raw_mode(stat.st_mode) {
        // Files of the shared trees have hard links in several trees.
        FileType::RegularFile if stat.st_nlink > 1 && access == Access::Writable => Err(FileError::Linked {
            path: path.shown(),
            names: stat.st_nlink,
        }),
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(FileError::Directory(path.shown())),
        FileType::Symlink => Err(FileError::Link(path.shown())),
        other => Err(FileError::Special {
            path: path.shown(),
            kind: kind(other).unwrap_or("a directory"),
        }),
    }
}

/// Opens a path below a root as a handle (`O_PATH`).
pub(super) fn held(top: BorrowedFd<'_>, below: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = |path: &OsStr| fs::openat2(top, path, flags, Mode::empty(), WITHIN);
    if below.is_empty() {
        return open(".".as_ref());
    }
    match open(below.as_ref()) {
        Err(Errno::NOENT) if below.contains(UNREADABLE) => open(real(top, below).as_os_str()),
        opened => opened,
    }
}

/// The path with its real names outside UTF-8, each if exactly one name looks like it.
fn real(top: BorrowedFd<'_>, below: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for part in below.split('/') {
        let name = match part.contains(UNREADABLE) {
            true => name_like(top, &path, part),
            false => None,
        };
        path.push(name.unwrap_or_else(|| part.into()));
    }
    path
}

fn name_like(top: BorrowedFd<'_>, directory: &std::path::Path, shown: &str) -> Option<PathBuf> {
    let opened = match directory.as_os_str().is_empty() {
        true => readable(top)?,
        false => confined::open_any(top, directory).ok()?,
    };
    let mut found = None;
    for entry in Dir::new(opened).ok()?.take(MOST_COMPARED).flatten() {
        let name = entry.file_name().to_bytes();
        if String::from_utf8_lossy(name) != shown {
            continue;
        }
        if found.is_some() {
            return None;
        }
        found = Some(PathBuf::from(OsStr::from_bytes(name)));
    }
    found
}

/// Why the system refused a path.
pub(super) fn reason(path: &VirtualPath, cause: Errno) -> FileError {
    let path_shown = path.shown();
    match cause {
        Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG => FileError::Missing(path_shown),
        Errno::LOOP => FileError::Link(path_shown),
        // Another file system is mounted below the root.
        Errno::XDEV => FileError::Outside(path_shown),
        Errno::ACCESS | Errno::PERM => FileError::Denied {
            operation: Operation::Read,
            path: path_shown,
        },
        // A program holds a lease on the file.
        Errno::AGAIN => FileError::Busy(path_shown),
        Errno::INVAL => FileError::InvalidPath,
        cause => system(path, cause.into()),
    }
}

fn system(path: &VirtualPath, cause: io::Error) -> FileError {
    FileError::System {
        path: path.shown(),
        cause,
    }
}
