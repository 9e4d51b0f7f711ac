//! Writes text files: all or nothing, with the owner of the session's files.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::SystemTime;

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::read::reason;
use super::{Access, Root, VirtualFiles, size_of};
use crate::confined::WITHIN;
use crate::directory::modified_at;
use crate::virtual_files::error::FileError;
use crate::virtual_files::new_entries::NewEntries;
use crate::virtual_files::path::VirtualPath;
use crate::virtual_files::policy::Operation;

/// Deepest directory that is written to, below a root.
const DEEPEST: usize = 100;

/// Attempts at a name or directory with which a program interferes.
const ATTEMPTS: usize = 16;

/// Bytes that a file system gives out at once.
const BLOCK: u64 = 4096;

/// A written file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenText {
    /// The normalized path.
    pub path: String,
    /// Bytes.
    pub size_bytes: u64,
    /// Time of the write.
    pub modified_at: SystemTime,
}

impl VirtualFiles {
    /// Writes a text file below `/scratch` or `/results`, with the directories above it. A file that is there is
    /// replaced as a whole. If the write is refused or fails, nothing of it is left.
    ///
    /// # Errors
    /// If content or path is missing, the path may not be written, or a limit would be exceeded.
    pub fn write(&self, path: &str, content: Option<&str>) -> Result<WrittenText, FileError> {
        if path.trim().is_empty() {
            return Err(FileError::PathRequired);
        }
        let content = content.ok_or(FileError::ContentRequired)?;
        let path = VirtualPath::parse(path.trim())?;
        let (top, below) = self.writable(&path)?;
        let mut parents: Vec<&str> = below.split('/').collect();
        let name = parents.pop().unwrap_or_default();
        self.check_size(&path, parents.len(), content)?;
        self.check_room(top, below, parents.len(), content.len())?;
        let mut made = Made::default();
        let new = NewEntries {
            place: self.place.as_fd(),
            owner: self.owner,
        };
        let written = parent(new, top, &parents, &path, &mut made)
            .and_then(|parent| replace(new, parent.as_fd(), name, content, &path));
        match written {
            Ok(stat) => Ok(WrittenText {
                path: path.text().to_owned(),
                size_bytes: size_of(&stat),
                modified_at: modified_at(&stat),
            }),
            Err(error) => {
                made.remove();
                Err(error)
            }
        }
    }

    /// The root of a path that may be written, and the path below it.
    fn writable<'a>(&self, path: &'a VirtualPath) -> Result<(BorrowedFd<'_>, &'a str), FileError> {
        let not_writable = || FileError::NotWritable(path.shown());
        let (root, below) = self.root(path).map_err(|_| not_writable())?;
        let top = match root {
            Root {
                access: Access::Writable,
                directory: Some(top),
                ..
            } => top.as_fd(),
            _ => return Err(not_writable()),
        };
        self.policy.check(Operation::Write, path)?;
        match below {
            "" => Err(FileError::Directory(path.shown())),
            below => Ok((top, below)),
        }
    }

    fn check_size(&self, path: &VirtualPath, levels: usize, content: &str) -> Result<(), FileError> {
        if levels > DEEPEST {
            return Err(FileError::PathTooDeep {
                path: path.shown(),
                levels,
                most: DEEPEST,
            });
        }
        let size = u64::try_from(content.len()).unwrap_or(u64::MAX);
        if size > self.limits.file {
            return Err(FileError::ContentTooLarge {
                size,
                most: self.limits.file,
            });
        }
        Ok(())
    }

    /// Checks the session's limit and the principal's quota before anything is written.
    fn check_room(
        &self,
        top: BorrowedFd<'_>,
        below: &str,
        levels: usize,
        length: usize,
    ) -> Result<(), FileError> {
        let size = u64::try_from(length).unwrap_or(u64::MAX);
        let replaced = super::read::held(top, below)
            .and_then(fs::fstat)
            .ok()
            .filter(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
            .map_or(0, |stat| size_of(&stat));
        let after = self
            .written_bytes(None)?
            .saturating_sub(replaced)
            .saturating_add(size);
        if after > self.limits.total {
            return Err(FileError::DiskFull);
        }
        if self.workspaces.kernel_holds_quota() {
            return Ok(());
        }
        let mut usage = self
            .workspaces
            .measure(&self.principal)
            .map_err(|_| FileError::DiskFull)?;
        usage.bytes = usage.bytes.saturating_add(size.next_multiple_of(BLOCK));
        usage.files += 1 + u64::try_from(levels).unwrap_or(u64::MAX);
        match self.workspaces.quota().is_outgrown_by(usage) {
            true => Err(FileError::DiskFull),
            false => Ok(()),
        }
    }
}

/// Directories that a write has made.
#[derive(Default)]
struct Made<'a>(Vec<(OwnedFd, &'a str)>);

impl Made<'_> {
    /// Removes the directories that are still empty.
    fn remove(self) {
        for (above, name) in self.0.into_iter().rev() {
            let _ = fs::unlinkat(above, name, AtFlags::REMOVEDIR);
        }
    }
}

/// Opens the directory of a file, making what is missing, one component at a time.
fn parent<'a>(
    new: NewEntries<'_>,
    top: BorrowedFd<'_>,
    parents: &[&'a str],
    path: &VirtualPath,
    made: &mut Made<'a>,
) -> Result<OwnedFd, FileError> {
    let mut directory = top.try_clone_to_owned().map_err(|cause| FileError::System {
        path: path.shown(),
        cause,
    })?;
    for part in parents {
        let below = step(new, directory.as_fd(), part);
        let (below, is_new) = below.map_err(|cause| match cause {
            Errno::NOTDIR => FileError::NotADirectory(path.shown()),
            cause => refused(path, cause),
        })?;
        let above = std::mem::replace(&mut directory, below);
        if is_new {
            made.0.push((above, part));
        }
    }
    Ok(directory)
}

/// Opens one directory; also tells whether it was made.
fn step(new: NewEntries<'_>, above: BorrowedFd<'_>, name: &str) -> Result<(OwnedFd, bool), Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut is_new = false;
    for _ in 0..ATTEMPTS {
        match fs::openat2(above, name, flags, Mode::empty(), WITHIN) {
            Err(Errno::NOENT) => is_new |= new.directory(above, name)?,
            Ok(below) => return Ok((below, is_new)),
            Err(cause) => return Err(cause),
        }
    }
    Err(Errno::AGAIN)
}

/// Writes a new file where no program reaches it, and moves it to its name.
fn replace(
    new: NewEntries<'_>,
    parent: BorrowedFd<'_>,
    name: &str,
    content: &str,
    path: &VirtualPath,
) -> Result<Stat, FileError> {
    if let Ok(found) = fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)
        && FileType::from_raw_mode(found.st_mode) == FileType::Directory
    {
        return Err(FileError::Directory(path.shown()));
    }
    let file = new
        .file(parent, name, content)
        .map_err(|cause| refused(path, Errno::from_io_error(&cause).unwrap_or(Errno::IO)))?;
    same(parent, name, &file, path)
}

/// The facts of the written file, if the name leads to it.
fn same(
    parent: BorrowedFd<'_>,
    name: &str,
    file: &std::fs::File,
    path: &VirtualPath,
) -> Result<Stat, FileError> {
    let written = fs::fstat(file).map_err(|cause| reason(path, cause))?;
    let named = fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW);
    match named {
        Ok(named) if named.st_ino == written.st_ino && named.st_dev == written.st_dev => Ok(written),
        // A program replaced the file.
        _ => Err(FileError::Busy(path.shown())),
    }
}

/// Why the system refused a write.
fn refused(path: &VirtualPath, cause: Errno) -> FileError {
    match cause {
        Errno::NOSPC | Errno::DQUOT | Errno::FBIG => FileError::DiskFull,
        Errno::ISDIR | Errno::NOTEMPTY | Errno::EXIST => FileError::Directory(path.shown()),
        Errno::ACCESS | Errno::PERM | Errno::ROFS => FileError::Denied {
            operation: Operation::Write,
            path: path.shown(),
        },
        // A program removed the directory.
        Errno::NOENT | Errno::AGAIN => FileError::Busy(path.shown()),
        Errno::NAMETOOLONG => FileError::InvalidPath,
        cause => reason(path, cause),
    }
}
