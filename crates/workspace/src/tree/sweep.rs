//! Removes trees that no process uses, and leftovers of killed writers.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::fs::{self, AtFlags, Dir, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::directory::{CONFINED, Directory};
use crate::error::WorkspaceError;
use crate::remove;

/// Unused trees that stay on disk. If a catalog returns, such as at the next start, its tree needs no writing.
const KEPT: usize = 4;

/// Entries that one sweep examines.
const LOOKED_AT: usize = 10_000;

/// Prefix of entries being removed.
const OLD: &str = ".old-";

/// Removes all but the newest unused trees. A failure leaves the tree for the next sweep.
pub(super) fn sweep(root: &Directory) {
    let Ok(directory) = fs::openat(
        root,
        ".",
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    ) else {
        return;
    };
    let Ok(entries) = Dir::new(directory) else { return };
    let mut trees: Vec<((i64, u64), OsString)> = Vec::new();
    for entry in entries.take(LOOKED_AT).flatten() {
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        if name.as_bytes().first() == Some(&b'.') {
            remove_unused(root, name);
        } else if let Ok(Some(place)) = root.child(name)
            && let Ok(stat) = place.stat()
        {
            trees.push(((stat.st_mtime, stat.st_mtime_nsec), name.to_owned()));
        }
    }
    trees.sort_unstable_by(|one, two| two.cmp(one));
    for (_, name) in trees.into_iter().skip(KEPT) {
        remove_unused(root, &name);
    }
}

/// Moves a damaged tree away even if sessions use it. These sessions still see the tree unchanged.
pub(super) fn discard(root: &Directory, name: &OsStr) -> Result<(), WorkspaceError> {
    let aside = aside(root, name);
    match fs::renameat_with(root, name, root, aside.as_os_str(), RenameFlags::NOREPLACE) {
        Ok(()) | Err(Errno::NOENT) => {
            remove_unused(root, &aside);
            Ok(())
        }
        Err(cause) => Err(WorkspaceError::step(
            "move the damaged tree away",
            &shown(root, name),
            cause,
        )),
    }
}

/// Removes an entry of codeyard's that no process reads.
pub(super) fn remove(root: &Directory, name: &OsStr) {
    if let Err(error) = remove::tree(root, name) {
        tracing::debug!(path = %shown(root, name).display(), %error, "left for the next sweep");
    }
}

fn remove_unused(root: &Directory, name: &OsStr) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let lock = match fs::openat2(root, name, flags, Mode::empty(), CONFINED) {
        Ok(lock) => lock,
        // The entry is not a directory, so no process locks or attaches it.
        Err(Errno::NOTDIR | Errno::LOOP) => return remove(root, name),
        Err(_) => return,
    };
    if fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        return;
    }
    if name.as_bytes().first() == Some(&b'.') {
        return remove(root, name);
    }
    // Rename first, so that no process sees half a tree.
    let aside = aside(root, name);
    if fs::renameat_with(root, name, root, aside.as_os_str(), RenameFlags::NOREPLACE).is_ok() {
        remove(root, &aside);
    }
}

fn aside(root: &Directory, name: &OsStr) -> OsString {
    let inode = fs::statat(root, name, AtFlags::SYMLINK_NOFOLLOW).map_or(0, |stat| stat.st_ino);
    let mut aside = OsString::from(format!("{OLD}{inode}-"));
    aside.push(name);
    aside
}

/// A path below the directory of all trees, for errors.
fn shown(root: &Directory, name: &OsStr) -> PathBuf {
    root.path().join(name)
}
