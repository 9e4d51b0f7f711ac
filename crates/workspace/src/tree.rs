//! Trees that all sessions share: named by a hash of the content, read-only, written under a temporary name and
//! renamed.
//!
//! ```text
//! <trees>/<hash>/{tools,skills}   directories 0755, files 0444; locked by every process that may still attach it
//! <trees>/.new-<pid>-<number>     being written; locked by its writer
//! ```

mod sweep;
mod verify;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{self, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use types::Principal;

use crate::directory::{CONFINED, Directory};
use crate::error::WorkspaceError;
use crate::lease;

/// Directories of every tree, even of an empty one.
pub(crate) const TOPS: [&str; 2] = ["tools", "skills"];

/// Version of the format on disk. It changes when trees of the same files look different on disk.
const FORMAT: &[u8] = b"codeyard tree 2";

const FILE: Mode = Mode::from_raw_mode(0o444);
/// Writable for the owner, so that `rm -r` removes a data directory. Sessions see the directory through a read-only
/// mount.
const DIRECTORY: Mode = Mode::from_raw_mode(0o755);
/// Mode of the directory of all trees. Sessions reach a tree through its mount, and no other user needs the directory.
const PRIVATE: Mode = Mode::from_raw_mode(0o700);

/// Restarts of a write that another process interrupts.
const ATTEMPTS: usize = 16;

#[derive(Debug)]
pub(crate) struct Trees {
    root: PathBuf,
    current: Mutex<HashMap<Principal, Tree>>,
    written: AtomicU64,
}

/// A tree that stays on disk while the value or a clone lives. Each session that shows the tree holds a clone.
#[derive(Debug, Clone)]
pub struct Tree {
    /// Contains `tools/` and `skills/`; absolute, without symbolic links.
    pub path: PathBuf,
    _lock: Arc<OwnedFd>,
}

type Files = BTreeMap<String, Vec<u8>>;

// === impl Trees ===

impl Trees {
    /// Makes the value without opening a file.
    pub(crate) fn new(root: PathBuf) -> Trees {
        Trees {
            root,
            current: Mutex::default(),
            written: AtomicU64::new(0),
        }
    }

    pub(crate) fn current(&self, principal: &Principal) -> Option<Tree> {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.get(principal).cloned()
    }

    pub(crate) fn forget(&self, principal: &Principal) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let before = current.remove(principal);
        drop(current);
        drop(before);
    }

    /// Makes the tree of these files a principal's current one.
    pub(crate) fn publish(&self, principal: &Principal, files: &Files) -> Result<(), WorkspaceError> {
        for name in files.keys() {
            check_name(name)?;
        }
        let root = Directory::root(&self.root, PRIVATE)?;
        let root = root.canonical()?;
        let name = hash(files);
        for _ in 0..ATTEMPTS {
            if let Some(tree) = self.existing(&root, &name, files)? {
                let before = self
                    .current
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(principal.clone(), tree);
                drop(before);
                sweep::sweep(&root);
                return Ok(());
            }
            self.write(&root, &name, files)?;
        }
        Err(WorkspaceError::step(
            "write the tree",
            &root.path().join(&name),
            Errno::BUSY,
        ))
    }

    /// The named tree, locked for this process; `None` if the tree is missing, damaged or being removed.
    fn existing(&self, root: &Directory, name: &str, files: &Files) -> Result<Option<Tree>, WorkspaceError> {
        let path = root.path().join(name);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let fd = match fs::openat2(root, name, flags, Mode::empty(), CONFINED) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::NOTDIR | Errno::LOOP) => {
                return sweep::discard(root, name.as_ref()).map(|()| None);
            }
            Err(cause) => return Err(WorkspaceError::step("open the tree", &path, cause)),
        };
        if !lease::share(&fd) {
            // Another process is removing the tree; the next writer takes the name.
            return Ok(None);
        }
        let same = match (fs::fstat(&fd), root.child(name.as_ref())?) {
            (Ok(locked), Some(named)) => locked.st_ino == named.stat()?.st_ino,
            _ => false,
        };
        if !same {
            return Ok(None);
        }
        if let Err(reason) = verify::verify(&fd, files) {
            tracing::warn!(tree = %path.display(), reason, "a shared tree is damaged; it is written anew");
            drop(fd);
            return sweep::discard(root, name.as_ref()).map(|()| None);
        }
        Ok(Some(Tree {
            path,
            _lock: Arc::new(fd),
        }))
    }

    /// Writes a tree and renames it into place, unless another process was faster.
    fn write(&self, root: &Directory, name: &str, files: &Files) -> Result<(), WorkspaceError> {
        let temporary = self.temporary(root)?;
        let Some(place) = root.child(temporary.as_ref())? else {
            return Ok(());
        };
        let Some(lock) = own(&place)? else {
            return Ok(());
        };
        let written = fill(&place, &lock, files).and_then(|()| {
            match fs::renameat_with(root, temporary.as_str(), root, name, RenameFlags::NOREPLACE) {
                Ok(()) => Ok(true),
                Err(Errno::EXIST) => Ok(false),
                Err(cause) => Err(WorkspaceError::step(
                    "name the tree",
                    &root.path().join(name),
                    cause,
                )),
            }
        });
        if !matches!(written, Ok(true)) {
            sweep::remove(root, temporary.as_ref());
        }
        written.map(drop)
    }

    /// Creates a directory of this writer's own; returns its name.
    fn temporary(&self, root: &Directory) -> Result<String, WorkspaceError> {
        loop {
            let number = self.written.fetch_add(1, Ordering::Relaxed);
            let name = format!(".new-{}-{number}", std::process::id());
            match fs::mkdirat(root, name.as_str(), DIRECTORY) {
                Ok(()) => return Ok(name),
                Err(Errno::EXIST) => {}
                Err(cause) => {
                    return Err(WorkspaceError::step(
                        "make the directory",
                        &root.path().join(name),
                        cause,
                    ));
                }
            }
        }
    }
}

/// Locks the directory that this process writes; `None` if a sweep treated the directory as abandoned.
fn own(place: &Directory) -> Result<Option<OwnedFd>, WorkspaceError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let lock = fs::openat(place, ".", flags, Mode::empty())
        .map_err(|cause| WorkspaceError::step("open the directory", place.path(), cause))?;
    match fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(fs::fstat(&lock)
            .is_ok_and(|stat| stat.st_nlink > 0)
            .then_some(lock)),
        Err(Errno::WOULDBLOCK) => Ok(None),
        Err(cause) => Err(WorkspaceError::step("lock the directory", place.path(), cause)),
    }
}

/// Writes all files below an empty, locked directory.
fn fill(place: &Directory, lock: &OwnedFd, files: &Files) -> Result<(), WorkspaceError> {
    let directories = directories(files);
    for directory in &directories {
        fs::mkdirat(lock, directory.as_str(), DIRECTORY).map_err(|cause| {
            WorkspaceError::step("make the directory", &place.path().join(directory), cause)
        })?;
    }
    for (name, content) in files {
        write_file(lock, name, content)
            .map_err(|cause| WorkspaceError::io("write the file", &place.path().join(name), cause))?;
    }
    // Set the mode afterwards: the user's umask may reduce the mode at creation.
    for directory in directories.iter().map(String::as_str).chain(["."]) {
        fs::chmodat(lock, directory, DIRECTORY, fs::AtFlags::empty()).map_err(|cause| {
            WorkspaceError::step(
                "set the mode of the directory",
                &place.path().join(directory),
                cause,
            )
        })?;
    }
    Ok(())
}

fn write_file(directory: &OwnedFd, name: &str, content: &[u8]) -> std::io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = fs::openat2(directory, name, flags, Mode::from_raw_mode(0o600), CONFINED)?;
    let mut file = std::fs::File::from(file);
    file.write_all(content)?;
    // Set the mode afterwards: the user's umask may reduce the mode at creation.
    Ok(fs::fchmod(&file, FILE)?)
}

/// Every directory of the tree, parents first.
pub(crate) fn directories(files: &Files) -> BTreeSet<String> {
    let mut directories: BTreeSet<String> = TOPS.into_iter().map(str::to_owned).collect();
    for name in files.keys() {
        let above = Path::new(name).ancestors().skip(1);
        directories.extend(
            above
                .filter_map(Path::to_str)
                .filter(|name| !name.is_empty())
                .map(str::to_owned),
        );
    }
    directories
}

fn check_name(name: &str) -> Result<(), WorkspaceError> {
    let mut parts = name.split('/');
    let top = parts.next().is_some_and(|top| TOPS.contains(&top));
    let mut below = 0_usize;
    let safe = parts.all(|part| {
        below += 1;
        !part.is_empty() && part != "." && part != ".." && part.len() <= 255 && !part.contains('\0')
    });
    if top && safe && below > 0 {
        Ok(())
    } else {
        Err(WorkspaceError::BadName(name.escape_debug().take(200).collect()))
    }
}

fn hash(files: &Files) -> String {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update(bytes.len().to_le_bytes());
        hash.update(bytes);
    };
    part(FORMAT);
    for (name, content) in files {
        part(name.as_bytes());
        part(content);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A path below the directory of all trees, for errors and removal.
pub(crate) fn shown(root: &Directory, name: &OsStr) -> PathBuf {
    root.path().join(name)
}

#[cfg(test)]
mod tests;
