//! Leases by file lock: each process leases a numbered slot of users and cgroups.
//!
//! The kernel releases a lock when its holder ends, for any reason. The next holder of the slot cleans up after the
//! dead holder.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// Users per lease of root: one for the zygote, the others for sessions.
pub const USERS: u32 = 4096;
/// First user of root's ranges, outside the ranges that systemd's UIDS-GIDS document assigns.
pub const FIRST_USER: u32 = 1_900_000_000;
/// Number of root's leases.
pub const ROOT_SLOTS: u32 = 1024;
/// Directory of root's leases: users and cgroups belong to the machine, not to a data directory.
pub const ROOT_LEASES: &str = "/run/codeyard/leases";

/// A slot that this process owns as long as the value lives.
#[derive(Debug)]
pub struct Lease {
    slot: u32,
    path: PathBuf,
    lock: File,
}

/// Why no slot could be leased.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message says what it is")]
pub enum LeaseError {
    #[error("{path}: {source}")]
    Directory { path: String, source: io::Error },
    #[error("all {0} slots are in use by other codeyard processes")]
    Exhausted(u32),
}

impl Lease {
    /// Leases the first free slot of `slots` in `directory`, which is made if missing.
    ///
    /// # Errors
    /// If the directory cannot be used or every slot is taken.
    pub fn acquire(directory: &Path, slots: u32) -> Result<Self, LeaseError> {
        let directory_error = |source| LeaseError::Directory {
            path: directory.display().to_string(),
            source,
        };
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)
            .map_err(directory_error)?;
        for slot in 0..slots {
            let path = directory.join(format!("{slot}.lock"));
            let lock = OpenOptions::new()
                .create(true)
                .truncate(false)
                .write(true)
                .mode(0o600)
                .open(&path)
                .map_err(|source| LeaseError::Directory {
                    path: path.display().to_string(),
                    source,
                })?;
            if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
                return Ok(Self { slot, path, lock });
            }
        }
        Err(LeaseError::Exhausted(slots))
    }

    /// The locked file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Index of the slot, from 0.
    pub fn slot(&self) -> u32 {
        self.slot
    }

    /// A name for the slot, unique across lease directories. The slot's next holder gets the same name.
    ///
    /// # Errors
    /// If the metadata of the lock file cannot be read.
    pub fn name(&self) -> io::Result<String> {
        let file = self.lock.metadata()?;
        Ok(format!("{}-{:x}-{:x}", self.slot, file.dev(), file.ino()))
    }
}

/// The lock of a lease, if it is free.
pub(crate) fn inherit(path: &Path) -> Option<File> {
    let lock = OpenOptions::new().write(true).open(path).ok()?;
    flock(&lock, FlockOperation::NonBlockingLockExclusive)
        .is_ok()
        .then_some(lock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_exclusive_and_come_back() {
        let directory = tempfile::tempdir().unwrap();
        let first = Lease::acquire(directory.path(), 2).unwrap();
        let second = Lease::acquire(directory.path(), 2).unwrap();
        assert_eq!((first.slot(), second.slot()), (0, 1));
        let error = Lease::acquire(directory.path(), 2).unwrap_err();
        assert_eq!(
            error.to_string(),
            "all 2 slots are in use by other codeyard processes"
        );
        let name = first.name().unwrap();
        let path = first.path().to_owned();
        assert!(inherit(&path).is_none(), "its holder lives");
        drop(first);
        drop(inherit(&path).unwrap());
        let again = Lease::acquire(directory.path(), 2).unwrap();
        assert_eq!((again.slot(), again.name().unwrap()), (0, name.clone()));
        let elsewhere = tempfile::tempdir().unwrap();
        assert_ne!(Lease::acquire(elsewhere.path(), 2).unwrap().name().unwrap(), name);
    }
}
