//! What people decided over files of servers, kept as lists in the data directory, and the turn to change it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::host::Host;

/// Version of the lists; a field that must be there is a version more.
const VERSION: u32 = 1;

/// The turn to change definitions, trust and consent. One process with this data directory has it at a time, so that
/// none loses what another wrote; nobody is asked anything while it is held.
pub struct Turn<'a> {
    data: &'a Path,
    pub(crate) host: &'a dyn Host,
    /// Held as long as it is open.
    _lock: Option<File>,
}

/// Why a decision could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum KeptError {
    /// Another process has the turn and does not give it back.
    #[error("{file}: another codeyard is changing something here; nothing was changed, try again", file = .0.display())]
    Busy(PathBuf),
    /// Others can change what is kept there.
    #[error("{file}: {cause}; or choose another data directory with --data. Nothing was changed", file = .file.display())]
    Shared {
        /// The file of the turn.
        file: PathBuf,
        /// Who can, with what to do.
        cause: io::Error,
    },
    /// The list is damaged.
    #[error("{file}: {cause}; {remedy}", file = .file.display())]
    Damaged {
        /// The list.
        file: PathBuf,
        /// What is wrong with it.
        cause: String,
        /// What to do.
        remedy: &'static str,
    },
    /// It could not be written.
    #[error("{file}: {cause}; make the data directory writable or choose another with --data", file = .file.display())]
    Write {
        /// The list, or the file of the turn.
        file: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

/// Waits for the turn, for as long as others need to write their files.
pub fn turn<'a>(data: &'a Path, host: &'a dyn Host) -> Result<Turn<'a>, KeptError> {
    let file = data.join("changes.lock");
    match host.lock(&file) {
        Ok(lock) => Ok(Turn {
            data,
            host,
            _lock: lock,
        }),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(KeptError::Busy(file)),
        Err(cause) if cause.kind() == io::ErrorKind::InvalidInput => Err(KeptError::Shared { file, cause }),
        Err(cause) => Err(KeptError::Write { file, cause }),
    }
}

/// One list: something for each file that a person decided over.
pub(crate) struct List {
    /// Its name in the data directory.
    pub(crate) name: &'static str,
    /// What it lists.
    pub(crate) what: &'static str,
    /// What to do when it is damaged.
    pub(crate) remedy: &'static str,
}

/// A list as it is stored.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored<T> {
    version: u32,
    files: BTreeMap<PathBuf, T>,
}

// === impl List ===

impl List {
    pub(crate) fn path(&self, data: &Path) -> PathBuf {
        data.join(self.name)
    }

    /// What it holds; the error is what is wrong with it.
    pub(crate) fn read<T: DeserializeOwned>(
        &self,
        data: &Path,
        host: &dyn Host,
    ) -> Result<BTreeMap<PathBuf, T>, String> {
        let bytes = match host.read_own(&self.path(data)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(error.to_string()),
        };
        match serde_json::from_slice::<Stored<T>>(&bytes) {
            Ok(stored) if stored.version == VERSION => Ok(stored.files),
            Ok(stored) => Err(format!("version {} is of another codeyard", stored.version)),
            Err(error) => Err(format!("the list of {} is damaged: {error}", self.what)),
        }
    }

    /// Changes it as one step; one that stays the same is not written.
    pub(crate) fn change<T: Serialize + DeserializeOwned + Clone + PartialEq>(
        &self,
        turn: &Turn<'_>,
        change: impl FnOnce(&mut BTreeMap<PathBuf, T>),
    ) -> Result<(), KeptError> {
        let file = self.path(turn.data);
        let before = self
            .read(turn.data, turn.host)
            .map_err(|cause| KeptError::Damaged {
                file: file.clone(),
                cause,
                remedy: self.remedy,
            })?;
        let mut files = before.clone();
        change(&mut files);
        if files == before {
            return Ok(());
        }
        let version = VERSION;
        let text = serde_json::to_vec_pretty(&Stored { version, files }).map_err(io::Error::from);
        text.and_then(|text| turn.host.replace(&file, &text))
            .map_err(|cause| KeptError::Write { file, cause })
    }
}
