//! Reads files that sessions wrote: beneath one directory, through no link, only regular files, without waiting, in
//! bounded memory.

use std::ffi::{CStr, OsStr};
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{self, Dir, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use crate::directory::{CONFINED, kind};

/// Deepest nesting of directories. Deeper directories count as over quota, because no measurement visits them.
pub const DEEPEST: usize = 200;

/// Beneath, through no link, and within one file system.
pub(crate) const WITHIN: ResolveFlags = CONFINED.union(ResolveFlags::NO_XDEV);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Most entries to visit.
    pub(crate) entries: u64,
    /// Deepest directory to enter; each level holds one descriptor.
    pub(crate) depth: usize,
}

#[derive(Debug)]
pub(crate) struct WalkEntry<'a> {
    /// Path relative to the top of the walk.
    pub(crate) path: &'a Path,
    pub(crate) stat: &'a Stat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    All,
    /// The walk reached a bound, or could not read a directory.
    Part,
}

/// Why a file is not read. A file outside the directory, a missing file and another principal's file look alike.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message says what it is")]
pub enum ReadError {
    #[error("there is no such file")]
    Missing,
    #[error("it is {0}, and only regular files are read")]
    Special(&'static str),
    #[error("it has {0} names (hard links); copy it to a file of its own")]
    Linked(u64),
    #[error("it has {size} bytes, and at most {most} are read at once; write it in parts")]
    TooLarge { size: u64, most: u64 },
    #[error("it cannot be read: {0}")]
    System(io::Error),
}

/// Visits everything below a directory in any order. Concurrent changes may be missed.
pub(crate) fn walk(top: impl AsFd, bounds: Bounds, mut visit: impl FnMut(WalkEntry<'_>)) -> Seen {
    let mut seen = Seen::All;
    let mut left = bounds.entries;
    let Ok(first) = Dir::read_from(top) else {
        return Seen::Part;
    };
    let mut stack = vec![first];
    let mut path = PathBuf::new();
    loop {
        let depth = stack.len();
        let Some(directory) = stack.last_mut() else { break };
        let entry = match directory.read() {
            Some(Ok(entry)) => entry,
            Some(Err(_)) | None => {
                stack.pop();
                path.pop();
                continue;
            }
        };
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        if left == 0 {
            return Seen::Part;
        }
        left -= 1;
        let Ok(parent) = directory.fd() else {
            seen = Seen::Part;
            continue;
        };
        let stat = match fs::statat(parent, name, fs::AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => continue,
            Err(_) => {
                seen = Seen::Part;
                continue;
            }
        };
        path.push(os(name));
        visit(WalkEntry {
            path: &path,
            stat: &stat,
        });
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            path.pop();
            continue;
        }
        match below(parent, name) {
            Ok(below) if depth < bounds.depth => stack.push(below),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                path.pop();
            }
            Ok(_) | Err(_) => {
                seen = Seen::Part;
                path.pop();
            }
        }
    }
    seen
}

fn below(parent: impl AsFd, name: &CStr) -> Result<Dir, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Dir::new(fs::openat2(parent, name, flags, Mode::empty(), WITHIN)?)
}

/// A regular file's content of at most `most` bytes.
pub(crate) fn read(top: impl AsFd, path: &Path, most: u64) -> Result<Vec<u8>, ReadError> {
    let file = open(top, path)?;
    let stat = fs::fstat(&file).map_err(|cause| ReadError::System(cause.into()))?;
    if let Some(size) = u64::try_from(stat.st_size).ok().filter(|size| *size > most) {
        return Err(ReadError::TooLarge { size, most });
    }
    let mut content = Vec::new();
    // The file may grow during the read.
    let mut file = std::fs::File::from(file).take(most.saturating_add(1));
    file.read_to_end(&mut content).map_err(ReadError::System)?;
    match u64::try_from(content.len()) {
        Ok(size) if size <= most => Ok(content),
        _ => Err(ReadError::TooLarge {
            size: most.saturating_add(1),
            most,
        }),
    }
}

/// Opens a file or directory without waiting for the other end of a FIFO. Refuses a path with `..` like a path that
/// leaves `top`: the kernel cannot follow `..` safely while anything on the machine is mounted or renamed.
pub(crate) fn open_any(top: impl AsFd, path: &Path) -> Result<OwnedFd, Errno> {
    if path.components().any(|part| part == Component::ParentDir) {
        return Err(Errno::XDEV);
    }
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    fs::openat2(top, path, flags, Mode::empty(), WITHIN)
}

/// Opens a regular file with one hard link.
fn open(top: impl AsFd, path: &Path) -> Result<OwnedFd, ReadError> {
    let file = match open_any(top, path) {
        Ok(file) => file,
        Err(
            Errno::NOENT | Errno::NOTDIR | Errno::XDEV | Errno::NAMETOOLONG | Errno::INVAL | Errno::ACCESS,
        ) => return Err(ReadError::Missing),
        Err(Errno::LOOP) => return Err(ReadError::Special("a symbolic link, or behind one")),
        // A socket.
        Err(Errno::NXIO) => return Err(ReadError::Special("a socket")),
        Err(cause) => return Err(ReadError::System(cause.into())),
    };
    let stat = fs::fstat(&file).map_err(|cause| ReadError::System(cause.into()))?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if stat.st_nlink > 1 => Err(ReadError::Linked(stat.st_nlink)),
        FileType::RegularFile => Ok(file),
        other => Err(ReadError::Special(kind(other).unwrap_or("a directory"))),
    }
}

fn os(name: &CStr) -> &OsStr {
    OsStr::from_bytes(name.to_bytes())
}

#[cfg(test)]
mod tests;
