//! Leases on files and directories in use: file locks, which the kernel releases when their process ends for any
//! reason.
//!
//! A lock belongs to one open file description. Two holders in one process count as two, and a killed process leaves
//! no lock behind.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{self, FlockOperation, Mode, OFlags, Timespec, Timestamps, UTIME_NOW};
use rustix::io::Errno;

use crate::directory::{CONFINED, Directory};
use crate::error::WorkspaceError;

/// Name of the locked file beside a principal's files, hidden from sessions.
pub(crate) const LOCK: &str = "lock";

/// Longest time that a launch waits for a cleaning. A cleaning holds the lock only for a few renames.
const PATIENCE: Duration = Duration::from_secs(2);

/// Interval of attempts within `PATIENCE`.
const PAUSE: Duration = Duration::from_millis(5);

/// Protects a principal's files from cleaning while it or a clone lives.
#[derive(Debug, Clone)]
pub struct Lease {
    pub(crate) principal: Arc<Lock>,
    pub(crate) _session: Arc<OwnedFd>,
}

/// Protects a principal's files from cleaning, except the files of a particular session.
#[derive(Debug, Clone)]
pub struct PrincipalLease {
    _lock: Arc<Lock>,
}

impl Lease {
    /// The principal's part of the lease, which may outlive the session.
    pub fn principal(&self) -> PrincipalLease {
        PrincipalLease {
            _lock: self.principal.clone(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Lock {
    fd: OwnedFd,
}

// === impl Lock ===

impl Lock {
    /// Takes the shared lock, for using the files; `None` if a cleaning took the files away.
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

    /// Takes the exclusive lock, for taking the files away.
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
            // The directory itself was removed.
            Err(Errno::NOENT) => Ok(None),
            Err(cause) => Err(WorkspaceError::step(
                "open the file",
                &principal.path().join(LOCK),
                cause,
            )),
        }
    }

    /// Whether the locked file still has its name. A cleaning removes the name.
    pub(crate) fn counts(&self) -> bool {
        fs::fstat(&self.fd).is_ok_and(|stat| stat.st_nlink > 0)
    }

    /// Whether the locked file is on this directory's file system. A person may have unmounted the image.
    pub(crate) fn is_in(&self, place: &Directory) -> bool {
        let device = fs::fstat(&self.fd).map(|stat| stat.st_dev).ok();
        device.is_some() && device == place.stat().map(|stat| stat.st_dev).ok()
    }

    /// Updates the time of last use, for people who look for unused files.
    pub(crate) fn touch(&self) {
        touch(&self.fd);
    }
}

/// Sets a file's times to now.
pub(crate) fn touch(file: impl AsFd) {
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: UTIME_NOW,
    };
    let times = Timestamps {
        last_access: now,
        last_modification: now,
    };
    // The time is a convenience: a launch must not fail because of it.
    let _ = fs::futimens(file, &times);
}

/// Locks a named directory for use; `None` if it is gone or being removed.
pub(crate) fn share_named(parent: &Directory, name: &OsStr) -> Result<Option<OwnedFd>, WorkspaceError> {
    let Some(fd) = open_directory(parent, name)? else {
        return Ok(None);
    };
    if !share(&fd) {
        return Ok(None);
    }
    // Another process may have removed the directory, and even recreated it, before this process took the lock.
    let inode = fs::fstat(&fd).map(|stat| stat.st_ino).ok();
    let named = parent.child(name)?;
    let same = named.is_some_and(|named| named.stat().ok().map(|stat| stat.st_ino) == inode);
    Ok(same.then_some(fd))
}

/// Opens a named directory for reading; `None` if it is missing.
pub(crate) fn open_directory(parent: &Directory, name: &OsStr) -> Result<Option<OwnedFd>, WorkspaceError> {
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

/// Locks an open directory for use, unless it is being removed.
pub(crate) fn share(directory: impl AsFd) -> bool {
    fs::flock(directory, FlockOperation::NonBlockingLockShared).is_ok()
}
