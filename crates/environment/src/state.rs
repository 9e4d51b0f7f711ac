//! State files: JSON lists in the data directory that map a file to a person's decision about it.
//!
//! Also the lock for their changes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::machine::Environment;

/// Version of the format, which a new required field increases.
const VERSION: u32 = 1;

/// The lock for changes of definitions and state files. One process per data directory holds the lock, so that no
/// change is lost. Never ask a person a question while holding the lock.
pub struct ChangeLock<'a> {
    data: &'a Path,
    env: &'a dyn Environment,
    /// The lock is held while this file is open.
    _lock: Option<File>,
}

/// Why a state file could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// Another process held the lock until the deadline.
    #[error("{file}: another codeyard is changing files here; nothing was changed, try again", file = .0.display())]
    Busy(PathBuf),
    /// Other users can change the data directory.
    #[error("{file}: {cause}; or choose another data directory with --data. Nothing was changed", file = .file.display())]
    Shared {
        /// The lock file.
        file: PathBuf,
        /// Who can change it, with the remedy.
        cause: io::Error,
    },
    /// The state file is damaged.
    #[error("{file}: {cause}; {remedy}", file = .file.display())]
    Damaged {
        /// The state file.
        file: PathBuf,
        /// The defect.
        cause: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// The file could not be written.
    #[error("{file}: {cause}; make the data directory writable or choose another with --data", file = .file.display())]
    Write {
        /// The state file, or the lock file.
        file: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
}

// === impl ChangeLock ===

impl<'a> ChangeLock<'a> {
    /// Waits for the lock.
    ///
    /// # Errors
    /// If another process holds the lock until the deadline, or the lock file cannot be created.
    pub fn acquire(data: &'a Path, env: &'a dyn Environment) -> Result<ChangeLock<'a>, StateError> {
        let file = data.join("changes.lock");
        match env.lock(&file) {
            Ok(lock) => Ok(ChangeLock {
                data,
                env,
                _lock: lock,
            }),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(StateError::Busy(file)),
            Err(cause) if cause.kind() == io::ErrorKind::InvalidInput => {
                Err(StateError::Shared { file, cause })
            }
            Err(cause) => Err(StateError::Write { file, cause }),
        }
    }

    /// The environment of the changes.
    pub fn env(&self) -> &'a dyn Environment {
        self.env
    }
}

/// One state file.
pub struct StateFile {
    /// Name in the data directory.
    pub name: &'static str,
    /// Plural of the listed items, for messages.
    pub what: &'static str,
    /// Remedy for a damaged file.
    pub remedy: &'static str,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored<T> {
    version: u32,
    files: BTreeMap<PathBuf, T>,
}

// === impl StateFile ===

impl StateFile {
    /// Path in the data directory.
    pub fn path(&self, data: &Path) -> PathBuf {
        data.join(self.name)
    }

    /// The content; empty if the file is missing.
    ///
    /// # Errors
    /// The defect, without path and remedy.
    pub fn read<T: DeserializeOwned>(
        &self,
        data: &Path,
        env: &dyn Environment,
    ) -> Result<BTreeMap<PathBuf, T>, String> {
        let bytes = match env.read_protected(&self.path(data)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(error.to_string()),
        };
        match serde_json::from_slice::<Stored<T>>(&bytes) {
            Ok(stored) if stored.version == VERSION => Ok(stored.files),
            Ok(stored) => Err(format!(
                "version {} was written by another codeyard",
                stored.version
            )),
            Err(error) => Err(format!("the list of {} is damaged: {error}", self.what)),
        }
    }

    /// The content.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn load<T: DeserializeOwned>(
        &self,
        data: &Path,
        env: &dyn Environment,
    ) -> Result<BTreeMap<PathBuf, T>, StateError> {
        self.read(data, env).map_err(|cause| StateError::Damaged {
            file: self.path(data),
            cause,
            remedy: self.remedy,
        })
    }

    /// Changes the content; writes the file atomically if the content differs.
    ///
    /// # Errors
    /// If the file is damaged or cannot be written.
    pub fn change<T: Serialize + DeserializeOwned + Clone + PartialEq>(
        &self,
        lock: &ChangeLock<'_>,
        change: impl FnOnce(&mut BTreeMap<PathBuf, T>),
    ) -> Result<(), StateError> {
        let before = self.load(lock.data, lock.env)?;
        let mut files = before.clone();
        change(&mut files);
        if files == before {
            return Ok(());
        }
        let (file, version) = (self.path(lock.data), VERSION);
        let text = serde_json::to_vec_pretty(&Stored { version, files }).map_err(io::Error::from);
        text.and_then(|text| lock.env.replace(&file, &text))
            .map_err(|cause| StateError::Write { file, cause })
    }
}
