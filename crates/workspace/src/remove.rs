//! Removes a tree without following links, whatever its depth, width and content.

use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, SystemTime};

use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, ResolveFlags};
use rustix::io::Errno;

use crate::directory::{CONFINED, Directory, modified_at, names};
use crate::error::WorkspaceError;

/// Opens a directory by one name from its parent, never through a link or into another file system.
const STEP: ResolveFlags = CONFINED.union(ResolveFlags::NO_XDEV);

/// Prefix of the entries being removed, next to the principals' directories.
const OLD: &str = ".old-";

/// Prefix of the entries that a write has not completed, in a principal's directory.
pub(crate) const NEW: &str = ".new-";

/// A write that began longer ago was interrupted.
const LONGEST_WRITE: Duration = Duration::from_hours(1);

/// Deepest nesting that the removal walks by descriptors. It moves deeper directories up first.
const DEEPEST: usize = 64;

/// Removes the named entry and everything below it. A missing entry is not an error.
pub(crate) fn tree(parent: impl AsFd, name: &OsStr) -> Result<(), Errno> {
    let parent = parent.as_fd();
    match fs::unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(cause) => return Err(cause),
    }
    let top = open(parent, name)?;
    empty(&top)?;
    match fs::unlinkat(parent, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(cause) => Err(cause),
    }
}

pub(crate) fn empty(top: &OwnedFd) -> Result<(), Errno> {
    // Directories on the way down, each with the names still to be removed.
    let mut stack: Vec<Level> = vec![Level::of(top.as_fd(), None)?];
    let mut moved = 0_u64;
    loop {
        let depth = stack.len();
        let Some(level) = stack.last_mut() else { break };
        let Some(name) = level.directories.pop() else {
            let Some(done) = stack.pop() else { break };
            if let (Some(above), Some(name)) = (stack.last(), done.name) {
                fs::unlinkat(&above.fd, name.as_c_str(), AtFlags::REMOVEDIR)?;
            }
            continue;
        };
        let below = open(level.fd.as_fd(), OsStr::new(os(&name)))?;
        if depth < DEEPEST {
            let below = Level::of(below.as_fd(), Some(name))?;
            stack.push(below);
            continue;
        }
        // Too deep for one chain of descriptors: move the children to the top and remove them there.
        let above = level.fd.as_fd();
        // Moving a directory changes its `..`, so an ordinary user needs write permission in it.
        let _ = fs::fchmod(&below, Mode::from_raw_mode(0o700));
        let fresh = CString::new(format!(".deep-{}-{moved}", std::process::id())).unwrap_or_default();
        moved += 1;
        fs::renameat(above, name.as_c_str(), top, fresh.as_c_str())?;
        if let Some(first) = stack.first_mut() {
            first.directories.push(fresh);
        }
    }
    Ok(())
}

/// A directory whose files are removed and whose subdirectories remain.
struct Level {
    fd: OwnedFd,
    name: Option<CString>,
    directories: Vec<CString>,
}

impl Level {
    fn of(directory: impl AsFd, name: Option<CString>) -> Result<Level, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = fs::openat(directory, ".", flags, Mode::empty())?;
        // The directory belongs to a tree, or a program removed its own permissions on it.
        let _ = fs::fchmod(&fd, Mode::from_raw_mode(0o700));
        let mut directories = Vec::new();
        for entry in Dir::read_from(&fd)? {
            let entry = entry?;
            let entry_name = entry.file_name();
            if entry_name == c"." || entry_name == c".." {
                continue;
            }
            if entry.file_type() == FileType::Directory {
                directories.push(entry_name.to_owned());
                continue;
            }
            match fs::unlinkat(&fd, entry_name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(Errno::ISDIR | Errno::PERM) => directories.push(entry_name.to_owned()),
                Err(cause) => return Err(cause),
            }
        }
        Ok(Level {
            fd,
            name,
            directories,
        })
    }
}

fn open(parent: impl AsFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let parent = parent.as_fd();
    match fs::openat2(parent, name, flags | OFlags::RDONLY, Mode::empty(), STEP) {
        Err(Errno::ACCESS) => {
            // The owner removed its own read permission. Use the descriptor, so that no link can replace the
            // directory.
            let held = fs::openat2(parent, name, flags | OFlags::PATH, Mode::empty(), STEP)?;
            fs::chmod(
                format!("/proc/self/fd/{}", held.as_raw_fd()),
                Mode::from_raw_mode(0o700),
            )?;
            fs::openat2(parent, name, flags | OFlags::RDONLY, Mode::empty(), STEP)
        }
        opened => opened,
    }
}

fn os(name: &CString) -> &OsStr {
    use std::os::unix::ffi::OsStrExt;
    OsStr::from_bytes(name.as_bytes())
}

/// Moves a file or directory away, to be swept later.
pub(crate) fn put_aside(place: &Directory, name: &OsStr, root: &Directory) -> Result<(), WorkspaceError> {
    let Ok(found) = fs::statat(place, name, AtFlags::SYMLINK_NOFOLLOW) else {
        return Ok(());
    };
    if FileType::from_raw_mode(found.st_mode) == FileType::Directory
        && let Ok(directory) = open(place, name)
    {
        // Moving a directory changes its `..`, so an ordinary user needs write permission in it.
        let _ = fs::fchmod(&directory, Mode::from_raw_mode(0o700));
    }
    let aside = format!("{OLD}{}-{}", found.st_ino, std::process::id());
    fs::renameat_with(place, name, root, aside.as_str(), RenameFlags::NOREPLACE)
        .map_err(|cause| WorkspaceError::step("move away", &place.path().join(name), cause))
}

/// Removes what was put aside, and what interrupted cleanings and writes have left.
pub(crate) fn sweep(root: &Directory) -> Result<(), WorkspaceError> {
    for name in names(root)? {
        if is_left(root, &name) {
            tree(root, &name)
                .map_err(|cause| WorkspaceError::step("remove", &root.path().join(&name), cause))?;
        }
    }
    Ok(())
}

fn is_left(root: &Directory, name: &OsStr) -> bool {
    let is_new = name.as_bytes().starts_with(NEW.as_bytes());
    let age = || {
        let stat = fs::statat(root, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        SystemTime::now().duration_since(modified_at(&stat)).ok()
    };
    name.as_bytes().starts_with(OLD.as_bytes()) || (is_new && age().is_some_and(|age| age > LONGEST_WRITE))
}
