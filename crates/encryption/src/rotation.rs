//! Changes the keys of the file in the data directory: adds a new one, and removes those that nothing needs.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::key::{self, KEY};
use crate::key_file::{KEY_FILE, KeyError, write};
use crate::{DataKeys, KeyMark};

/// Number of keys that always stay: the newest, and the one before it, with which running
/// processes may still encrypt for a moment.
const KEPT: usize = 2;

/// Exclusive right to change the key file. Other processes can still read it.
#[derive(Debug)]
pub struct KeyRotation {
    directory: PathBuf,
    /// The directory, which is locked; the file itself is replaced.
    _lock: File,
}

// === impl KeyRotation ===

impl KeyRotation {
    /// Excludes other rotations until the value is dropped. Makes a missing key file with its first key.
    ///
    /// # Errors
    /// If the file cannot be used, or another process rotates keys.
    pub fn begin(directory: &Path) -> Result<KeyRotation, KeyError> {
        DataKeys::load(directory, None)?;
        let failed = |cause| failed(directory, cause);
        let lock = File::open(directory).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(KeyRotation {
                directory: directory.to_owned(),
                _lock: lock,
            }),
            Err(TryLockError::WouldBlock) => Err(KeyError::Busy(directory.join(KEY_FILE))),
            Err(TryLockError::Error(cause)) => Err(failed(cause)),
        }
    }

    /// Adds a new key as the first one. From now on, every process encrypts with it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add_key(&self) -> Result<DataKeys, KeyError> {
        let mut lines = self.lines()?;
        lines.insert(0, STANDARD.encode(key::random::<KEY>()?));
        self.replace(&lines)?;
        self.keys()
    }

    /// Removes the old keys that are not among `needed`; returns how many.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn remove_unneeded(&self, needed: &[KeyMark]) -> Result<usize, KeyError> {
        let (lines, marks) = (self.lines()?, self.keys()?.marks());
        let is_kept = |(place, mark): (usize, &KeyMark)| place < KEPT || needed.contains(mark);
        let kept: Vec<String> = lines
            .iter()
            .zip(marks.iter().enumerate().map(is_kept))
            .filter(|(_, is_kept)| *is_kept)
            .map(|(line, _)| line.clone())
            .collect();
        let removed = lines.len() - kept.len();
        if removed > 0 {
            self.replace(&kept)?;
        }
        Ok(removed)
    }

    fn keys(&self) -> Result<DataKeys, KeyError> {
        DataKeys::load(&self.directory, None)
    }

    /// One key each, as they are written.
    fn lines(&self) -> Result<Vec<String>, KeyError> {
        let text = fs::read_to_string(self.file()).map_err(|cause| failed(&self.directory, cause))?;
        let keys = text.split(|character: char| character.is_whitespace() || character == ',');
        Ok(keys.filter(|key| !key.is_empty()).map(str::to_owned).collect())
    }

    /// Replaces the file atomically.
    fn replace(&self, lines: &[String]) -> Result<(), KeyError> {
        let suffix = u64::from_le_bytes(key::random()?);
        let new = self.directory.join(format!("{KEY_FILE}.{suffix:016x}"));
        let written = write(&new, &format!("{}\n", lines.join("\n")));
        let replaced = written.and_then(|()| fs::rename(&new, self.file()));
        replaced.map_err(|cause| {
            // A leftover would be a second copy of the keys.
            let _ = fs::remove_file(&new);
            failed(&self.directory, cause)
        })
    }

    fn file(&self) -> PathBuf {
        self.directory.join(KEY_FILE)
    }
}

fn failed(directory: &Path, cause: io::Error) -> KeyError {
    KeyError::File {
        file: directory.join(KEY_FILE),
        cause,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_new_key_encrypts_and_old_ones_stay_while_they_are_needed() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        let sealed = DataKeys::load(path, None)
            .expect("keys")
            .seal("c", b"x".to_vec())
            .expect("sealed");
        let rotation = KeyRotation::begin(path).expect("a rotation");
        let first = KeyMark::of(&sealed).expect("a mark");
        for number in 2..=4 {
            let keys = rotation.add_key().expect("a key");
            assert_eq!(
                (keys.marks().len(), keys.marks().contains(&first)),
                (number, true)
            );
            assert_eq!(keys.open("c", &sealed), Ok(b"x".to_vec()));
            let new = keys.seal("c", b"y".to_vec()).expect("sealed");
            assert_eq!(KeyMark::of(&new), keys.marks().first().copied());
        }
        // The newest two stay, and the first, which is needed.
        assert_eq!(rotation.remove_unneeded(&[first]).expect("removed"), 1);
        assert_eq!(rotation.remove_unneeded(&[first]).expect("removed"), 0);
        assert_eq!(rotation.remove_unneeded(&[]).expect("removed"), 1);
        let mode = fs::metadata(path.join(KEY_FILE)).expect("the file").permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
        let names: Vec<_> = fs::read_dir(path).expect("a list").collect();
        assert_eq!(names.len(), 1, "{names:?}");
    }

    #[test]
    fn one_process_rotates_at_a_time() {
        let directory = tempfile::tempdir().expect("a directory");
        let first = KeyRotation::begin(directory.path()).expect("a rotation");
        let error = KeyRotation::begin(directory.path()).expect_err("another one");
        assert!(matches!(error, KeyError::Busy(_)), "{error}");
        drop(first);
        KeyRotation::begin(directory.path()).expect("a rotation");
    }
}
