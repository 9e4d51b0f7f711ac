//! Keeps recordings of runs, encrypted, and opens them again.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use encryption::{DATA_KEY_VARIABLE, DataKeys, FileState, KEY_FILE, KeyError, OpenError};
use replay::{RecordingError, RunRecording};
use store::{Database, Recordings, Records, StoredRecording, Trouble};
use types::{Principal, RunId};

use crate::files::blocking;
use crate::key_rotation::marks;

/// Recordings of at least so many bytes are encrypted on a thread of their own.
const LARGE: usize = 64 * 1024;

/// The recordings of one process. Cheap to clone.
#[derive(Clone)]
pub(crate) struct RunRecordings {
    records: Records,
    table: Recordings,
    keys: Arc<KeySource>,
    /// Whether other processes may use the database.
    is_shared: bool,
}

/// A reason why a process may not be able to repeat runs of other processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyDoubt {
    /// Several processes may use the database, and the keys are in a file that others may not have.
    OwnFile(PathBuf),
    /// A key of recent recordings is missing.
    Unknown,
}

/// Where the keys are. They are read at the first use, because a start that needs none reads no file, and again when
/// the file was replaced.
pub(crate) struct KeySource {
    directory: PathBuf,
    /// The value of the variable.
    variable: Option<String>,
    keys: Mutex<Option<ReadKeys>>,
}

/// The keys, with the state of their file when they were read.
struct ReadKeys {
    file: Option<FileState>,
    keys: Result<Arc<DataKeys>, Arc<KeyError>>,
}

/// Why a run cannot be repeated.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ReplayError {
    /// There is no such run, or the caller may not see it.
    #[error("Run not found: {0}")]
    NotFound(RunId),
    /// S0-79: the run was not recorded for replay.
    #[error("Replay unavailable: code body was not persisted")]
    NotRecorded,
    /// An earlier run of the session was not recorded, so its variables are unknown.
    #[error("Replay unavailable: {0}, an earlier run of the same session, was not recorded for replay")]
    EarlierNotRecorded(RunId),
    /// The keys cannot be read.
    #[error("Replay unavailable: {0}")]
    Keys(Arc<KeyError>),
    /// The recording does not open.
    #[error("Replay unavailable: the recording cannot be decrypted: {0}")]
    Sealed(#[from] OpenError),
    /// The recording is not as this version writes it.
    #[error("Replay unavailable: {0}")]
    Damaged(Arc<RecordingError>),
    /// The database does not answer.
    #[error(transparent)]
    Database(#[from] Trouble),
}

/// The keys of recordings are missing or unusable.
#[derive(Debug, Clone, thiserror::Error)]
#[error("runs cannot be recorded for replay: {0}; or leave `replay` out of `record` in `[records]`")]
pub struct KeysError(pub(crate) Arc<KeyError>);

impl fmt::Display for KeyDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyDoubt::OwnFile(file) => write!(
                f,
                "recordings are encrypted with the key in {}; other processes on this database need the same key: \
                 set {DATA_KEY_VARIABLE} to it for each process, or give all the same file",
                file.display()
            ),
            KeyDoubt::Unknown => write!(
                f,
                "recent recordings are encrypted with a key that this process does not have, so it cannot replay \
                 their runs: set {DATA_KEY_VARIABLE} for each process to the keys of all {KEY_FILE} files, in the same \
                 order"
            ),
        }
    }
}

// === impl RunRecordings ===

impl RunRecordings {
    pub(crate) fn new(
        records: Records,
        database: Database,
        directory: PathBuf,
        variable: Option<String>,
    ) -> RunRecordings {
        RunRecordings {
            records,
            is_shared: database.file().is_none(),
            table: Recordings::new(database),
            keys: Arc::new(KeySource::new(directory, variable)),
        }
    }

    /// The keys, for other secrets.
    pub(crate) fn keys(&self) -> Arc<KeySource> {
        Arc::clone(&self.keys)
    }

    /// Whether new runs are recorded for replay.
    pub(crate) fn are_kept(&self) -> bool {
        self.records.keeps_recordings()
    }

    /// Reads the keys now, if recordings are kept.
    pub(crate) fn check(&self) -> Result<(), Arc<KeyError>> {
        match self.are_kept() {
            true => self.keys.get().map(drop),
            false => Ok(()),
        }
    }

    /// Reasons why this process may be unable to replay runs of other processes, or they its runs.
    pub(crate) async fn doubts(&self) -> Result<Vec<KeyDoubt>, Trouble> {
        let mut doubts = Vec::new();
        let keys = match self.are_kept() {
            true => self.keys.get().ok(),
            false => None,
        };
        let Some(keys) = keys else {
            return Ok(doubts);
        };
        if self.is_shared && self.keys.variable.is_none() {
            doubts.push(KeyDoubt::OwnFile(self.keys.directory.join(KEY_FILE)));
        }
        let own = keys.marks();
        let newest = marks(&self.table.keys_of_newest().await?);
        if newest.iter().any(|mark| !own.contains(mark)) {
            doubts.push(KeyDoubt::Unknown);
        }
        Ok(doubts)
    }

    /// Encrypts and keeps a recording. Without a key nothing is kept, and that is logged.
    pub(crate) async fn keep(&self, run: &RunId, principal: &Principal, recording: RunRecording) {
        let sealed = match recording.size() < LARGE {
            true => self.seal(run, principal, &recording),
            false => {
                let (recordings, run, principal) = (self.clone(), run.clone(), principal.clone());
                let sealed = blocking(move || recordings.seal(&run, &principal, &recording)).await;
                sealed.unwrap_or_else(|| Err("its thread failed".to_owned()))
            }
        };
        let kept = sealed.and_then(|sealed| match self.records.recording(run, sealed) {
            true => Ok(()),
            false => Err("the database is too slow".to_owned()),
        });
        if let Err(why) = kept {
            tracing::warn!(%run, "the run cannot be repeated, because it was not recorded: {why}");
        }
    }

    fn seal(&self, run: &RunId, principal: &Principal, recording: &RunRecording) -> Result<String, String> {
        let bytes = recording.to_bytes().map_err(|error| error.to_string())?;
        let keys = self.keys.get().map_err(|error| error.to_string())?;
        let sealed = keys.seal(&context(run, principal), bytes);
        Ok(STANDARD.encode(sealed.map_err(|error| error.to_string())?))
    }

    /// The stored row of a run; the reader must check who may see it.
    pub(crate) async fn find(&self, run: &RunId) -> Result<Option<StoredRecording>, ReplayError> {
        self.records.settle().await;
        Ok(self.table.read(run).await?)
    }

    /// The recordings of the earlier runs of the same life of the session, oldest first.
    pub(crate) async fn earlier(&self, run: &RunId) -> Result<Vec<RunRecording>, ReplayError> {
        let mut opened = Vec::new();
        for earlier in self.table.earlier(run).await? {
            let row = self.table.read(&earlier).await?;
            let recording = row
                .ok_or(ReplayError::NotRecorded)
                .and_then(|row| self.open(&earlier, &row));
            opened.push(recording.map_err(|error| match error {
                ReplayError::NotRecorded => ReplayError::EarlierNotRecorded(earlier),
                error => error,
            })?);
        }
        Ok(opened)
    }

    /// Decrypts the recording of a run.
    pub(crate) fn open(&self, run: &RunId, row: &StoredRecording) -> Result<RunRecording, ReplayError> {
        let sealed = row.sealed.as_ref().ok_or(ReplayError::NotRecorded)?;
        let sealed = STANDARD.decode(sealed).map_err(|_| OpenError::Altered)?;
        let keys = self.keys.get().map_err(ReplayError::Keys)?;
        let bytes = keys.open(&context(run, &row.principal), &sealed)?;
        RunRecording::from_bytes(&bytes).map_err(|error| ReplayError::Damaged(Arc::new(error)))
    }

    pub(crate) async fn close(&self) {
        self.table.close().await;
    }
}

/// Binds a recording to its run and to who asked for it.
pub(crate) fn context(run: &RunId, principal: &Principal) -> String {
    format!("run {run} of {principal}")
}

// === impl KeySource ===

impl KeySource {
    /// Reads nothing yet.
    pub(crate) fn new(directory: PathBuf, variable: Option<String>) -> KeySource {
        KeySource {
            directory,
            variable,
            keys: Mutex::default(),
        }
    }

    pub(crate) fn get(&self) -> Result<Arc<DataKeys>, Arc<KeyError>> {
        let mut read = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        // A file that was removed meanwhile changes nothing: a new key would open nothing.
        let file = match self.variable {
            Some(_) => None,
            None => FileState::of(&self.directory),
        };
        if let Some(read) = &*read
            && (file.is_none() || file == read.file)
        {
            return read.keys.clone();
        }
        let keys = DataKeys::load(&self.directory, self.variable.as_deref());
        let keys = keys.map(Arc::new).map_err(Arc::new);
        // The first reading may have made the file.
        let file = file.or_else(|| FileState::of(&self.directory));
        *read = Some(ReadKeys {
            file,
            keys: keys.clone(),
        });
        keys
    }
}
