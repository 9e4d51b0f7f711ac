//! Who uses what: file locks that end with the process which holds them, in whatever way it ends.
//!
//! A lock belongs to one open description, so two holders in one process count as two, and nothing is forgotten at a kill.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{self, AtFlags, FlockOperation, Mode, OFlags, Timespec, Timestamps, UTIME_NOW};
use rustix::io::Errno;

use crate::directory::{CONFINED, Directory};
use crate::error::WorkspaceError;

/// The file that is locked, beside the files of a principal, where sessions do not see it.
pub(crate) const LOCK: &str = "lock";

/// How long a launch waits for a cleaning that is under way; it holds the lock for a few renames only.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often it looks.
const PAUSE: Duration = Duration::from_millis(5);

/// Keeps a principal's files from being cleaned away as long as it, or a clone, lives.
#[derive(Debug, Clone)]
pub struct Lease {
    pub(crate) principal: Arc<Lock>,
    pub(crate) _results: Arc<OwnedFd>,
}

/// Keeps a principal's files from being cleaned away, but no session's in particular.
#[derive(Debug, Clone)]
pub struct PrincipalLease {
    _lock: Arc<Lock>,
}

impl Lease {
    /// The part of it that outlives the session.
    pub fn principal(&self) -> PrincipalLease {
        PrincipalLease {
            _lock: self.principal.clone(),
        }
    }
}

/// The lock of one principal's files.
#[derive(Debug)]
pub(crate) struct Lock {
    fd: OwnedFd,
}

// === impl Lock ===

impl Lock {
    /// For using the files: shared with everybody else who uses them. `None` if a cleaning has taken them away.
    pub(crate) fn shared(principal: &Directory) -> Result<Option<Lock>, WorkspaceError> {
        let Some(lock) = Lock::open(principal)? else {
            return Ok(None);
        };
        let deadline = Instant::now() + PATIENCE;
        loop {
            match fs::flock(&lock.fd, FlockOperation::NonBlockingLockShared) {
                Ok(()) => return Ok(lock.counts().then_some(lock)),
                Err(Errno::WOULDBLOCK) if Instant::now() < deadline => thread::sleep(PAUSE),
                Err(Errno::WOULDBLOCK) => {
                    return Err(WorkspaceError::BeingCleaned(principal.path().to_path_buf()));
                }
                Err(cause) => {
                    return Err(WorkspaceError::step(
                        "lock the file",
                        &principal.path().join(LOCK),
                        cause,
                    ));
                }
            }
        }
    }

    /// For taking the files away: nobody else uses them.
    pub(crate) fn exclusive(principal: &Directory) -> Result<Lock, WorkspaceError> {
        let Some(lock) = Lock::open(principal)? else {
            return Err(WorkspaceError::BeingCleaned(principal.path().to_path_buf()));
        };
        match fs::flock(&lock.fd, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) if lock.counts() => Ok(lock),
            Ok(()) => Err(WorkspaceError::BeingCleaned(principal.path().to_path_buf())),
            Err(Errno::WOULDBLOCK) => Err(WorkspaceError::InUse(principal.path().to_path_buf())),
            Err(cause) => Err(WorkspaceError::step(
                "lock the file",
                &principal.path().join(LOCK),
                cause,
            )),
        }
    }

    fn open(principal: &Directory) -> Result<Option<Lock>, WorkspaceError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let mode = Mode::from_raw_mode(0o600);
        match fs::openat2(principal.as_fd(), LOCK, flags, mode, CONFINED) {
            Ok(fd) => Ok(Some(Lock { fd })),
            // The directory itself has been removed.
            Err(Errno::NOENT) => Ok(None),
            Err(cause) => Err(WorkspaceError::step(
                "open the file",
                &principal.path().join(LOCK),
                cause,
            )),
        }
    }

    /// Whether the locked file still has its name: a cleaning takes it away.
    pub(crate) fn counts(&self) -> bool {
        fs::fstat(&self.fd).is_ok_and(|stat| stat.st_nlink > 0)
    }

    /// Whether the locked file is on the file system of this directory: an image may have been unmounted by hand.
    pub(crate) fn is_in(&self, place: &Directory) -> bool {
        let device = fs::fstat(&self.fd).map(|stat| stat.st_dev).ok();
        device.is_some() && device == place.stat().map(|stat| stat.st_dev).ok()
    }

    /// Notes that the files are being used now, for people who look for what nobody uses.
    pub(crate) fn touch(&self) {
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_NOW,
        };
        let times = Timestamps {
            last_access: now,
            last_modification: now,
        };
        // The time is a convenience: a launch must not fail because of it.
        let _ = fs::futimens(&self.fd, &times);
    }
}

/// Locks the directory of that name for using it; `None` if it is gone, or being removed.
pub(crate) fn share_named(parent: &Directory, name: &OsStr) -> Result<Option<OwnedFd>, WorkspaceError> {
    let Some(fd) = open_directory(parent, name)? else {
        return Ok(None);
    };
    if !share(&fd) {
        return Ok(None);
    }
    // It may have been removed, and even made again, before the lock was there.
    let inode = fs::fstat(&fd).map(|stat| stat.st_ino).ok();
    let named = parent.child(name)?;
    let same = named.is_some_and(|named| named.stat().ok().map(|stat| stat.st_ino) == inode);
    Ok(same.then_some(fd))
}

/// Removes the directory of that name if it is empty and nobody uses it.
pub(crate) fn remove_if_unused(parent: &Directory, name: &OsStr) {
    let Ok(Some(fd)) = open_directory(parent, name) else {
        return;
    };
    if fs::flock(&fd, FlockOperation::NonBlockingLockExclusive).is_ok() {
        // What is not empty stays; so does what cannot be removed now, until the next time.
        let _ = fs::unlinkat(parent, name, AtFlags::REMOVEDIR);
    }
}

fn open_directory(parent: &Directory, name: &OsStr) -> Result<Option<OwnedFd>, WorkspaceError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    match fs::openat2(parent, name, flags, Mode::empty(), CONFINED) {
        Ok(fd) => Ok(Some(fd)),
        Err(Errno::NOENT) => Ok(None),
        Err(cause) => Err(WorkspaceError::step(
            "open the directory",
            &parent.path().join(name),
            cause,
        )),
    }
}

/// Locks an open directory for using it, unless somebody is removing it.
pub(crate) fn share(directory: impl AsFd) -> bool {
    fs::flock(directory, FlockOperation::NonBlockingLockShared).is_ok()
}
