//! Trees that all sessions share: named by a hash of their files' keys, read-only, written under a temporary name and
//! renamed.
//!
//! ```text
//! <trees>/<hash>/{tools,skills}     directories 0755, files 0444; locked by every process that may still attach it
//! <trees>/.new-<pid>-<number>       being written, or spare; locked by its writer
//! ```
//!
//! Trees share common files as hard links. A new tree starts from the spare one, which equals the current tree, so
//! that publishing costs only the changed files.

mod build;
mod manifest;
mod spare;
mod sweep;
mod verify;

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{self, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use types::{Principal, TreeFile};

use crate::directory::{CONFINED, Directory};
use crate::error::WorkspaceError;
use crate::lease;
use build::{LinkSource, Unfinished};
use manifest::{DIRECTORY, Files, Manifest, check_name, hash, keys};

/// Mode of the directory of all trees. Sessions reach a tree through its mount, and no other user needs the directory.
const PRIVATE: Mode = Mode::from_raw_mode(0o700);

/// Restarts of a write that another process interrupts.
const ATTEMPTS: usize = 16;

#[derive(Debug)]
pub(crate) struct Trees {
    root: PathBuf,
    current: Mutex<HashMap<Principal, Tree>>,
    /// Locked during construction, which takes longer than writing a new tree without the spare one.
    spare: Mutex<Option<Unfinished>>,
    written: AtomicU64,
}

/// A tree that stays on disk while the value or a clone lives. Each session that shows the tree holds a clone.
#[derive(Debug, Clone)]
pub struct Tree {
    /// Contains `tools/` and `skills/`; absolute, without symbolic links.
    pub path: PathBuf,
    lock: Arc<OwnedFd>,
    manifest: Arc<Manifest>,
}

// === impl Tree ===

impl Tree {
    fn source(&self) -> LinkSource<'_> {
        LinkSource {
            place: &self.lock,
            manifest: &self.manifest,
        }
    }
}

// === impl Trees ===

impl Trees {
    /// Makes the value without opening a file.
    pub(crate) fn new(root: PathBuf) -> Trees {
        Trees {
            root,
            current: Mutex::default(),
            spare: Mutex::default(),
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
    pub(crate) fn publish(&self, principal: &Principal, files: &Files<'_>) -> Result<(), WorkspaceError> {
        for name in files.keys() {
            check_name(name)?;
        }
        let root = Directory::root(&self.root, PRIVATE)?;
        let root = root.canonical()?;
        let manifest: Arc<Manifest> = Arc::new(keys(files));
        let name = hash(&manifest);
        for _ in 0..ATTEMPTS {
            let found = match self.existing(&root, &name, files, &manifest)? {
                Some(tree) => Some(tree),
                None => self.write(principal, &root, &name, files, &manifest)?,
            };
            if let Some(tree) = found {
                let before = self
                    .current
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(principal.clone(), tree);
                drop(before);
                return Ok(());
            }
        }
        Err(WorkspaceError::step(
            "write the tree",
            &root.path().join(&name),
            Errno::BUSY,
        ))
    }

    /// Prepares the next publication of a principal's tree, and removes trees that no process uses.
    pub(crate) fn tend(&self, principal: &Principal) -> Result<(), WorkspaceError> {
        let Some(tree) = self.current(principal) else {
            return Ok(());
        };
        let root = Directory::root(&self.root, PRIVATE)?.canonical()?;
        self.make_spare(&root, &tree)?;
        sweep::sweep(&root);
        Ok(())
    }

    /// The named tree, locked for this process; `None` if the tree is missing, damaged or being removed.
    fn existing(
        &self,
        root: &Directory,
        name: &str,
        files: &Files<'_>,
        manifest: &Arc<Manifest>,
    ) -> Result<Option<Tree>, WorkspaceError> {
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
        if !is_named(root, name, &fd)? {
            return Ok(None);
        }
        if let Err(reason) = verify::verify(&fd, files) {
            tracing::warn!(tree = %path.display(), reason, "a shared tree is damaged; it is written anew");
            drop(fd);
            self.forget_files();
            return sweep::discard(root, name.as_ref()).map(|()| None);
        }
        Ok(Some(Tree {
            path,
            lock: Arc::new(fd),
            manifest: manifest.clone(),
        }))
    }

    /// Stops linking files of this process's trees: they may share a damaged file.
    fn forget_files(&self) {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(spare);
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        for tree in current.values_mut() {
            tree.manifest = Arc::default();
        }
    }

    /// Writes a tree and renames it into place; `None` if another process was faster.
    fn write(
        &self,
        principal: &Principal,
        root: &Directory,
        name: &str,
        files: &Files<'_>,
        manifest: &Arc<Manifest>,
    ) -> Result<Option<Tree>, WorkspaceError> {
        let source = self.current(principal);
        let begun = match self.take_spare() {
            Some(spare) => spare,
            None => match self.begin(root)? {
                Some(begun) => begun,
                None => return Ok(None),
            },
        };
        let made = |name: &str| files.get(name).map(TreeFile::content);
        let built = build::change(&begun, manifest, source.as_ref().map(Tree::source), &made);
        let renamed = built.and_then(|()| {
            match fs::renameat_with(root, begun.name.as_str(), root, name, RenameFlags::NOREPLACE) {
                Ok(()) => Ok(true),
                Err(Errno::EXIST) => Ok(false),
                Err(cause) => Err(WorkspaceError::step(
                    "name the tree",
                    &root.path().join(name),
                    cause,
                )),
            }
        });
        match renamed {
            Ok(true) => {}
            Ok(false) => {
                sweep::remove(root, begun.name.as_ref());
                return Ok(None);
            }
            Err(error) => {
                sweep::remove(root, begun.name.as_ref());
                return Err(error);
            }
        }
        // Between the two locks another process may have removed the tree.
        let is_shared = lease::share(&begun.lock) && is_named(root, name, &begun.lock)?;
        Ok(is_shared.then(|| Tree {
            path: root.path().join(name),
            lock: Arc::new(begun.lock),
            manifest: manifest.clone(),
        }))
    }

    /// An empty tree of this writer's own.
    fn begin(&self, root: &Directory) -> Result<Option<Unfinished>, WorkspaceError> {
        let name = self.temporary(root)?;
        let Some(place) = root.child(name.as_ref())? else {
            return Ok(None);
        };
        Ok(own(&place)?.map(|lock| Unfinished {
            name,
            path: place.path().to_path_buf(),
            lock,
            manifest: Manifest::new(),
        }))
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

/// Whether the name still refers to the open directory.
fn is_named(root: &Directory, name: &str, open: &OwnedFd) -> Result<bool, WorkspaceError> {
    Ok(match (fs::fstat(open), root.child(name.as_ref())?) {
        (Ok(open), Some(named)) => open.st_ino == named.stat()?.st_ino,
        _ => false,
    })
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

#[cfg(test)]
mod tests;
