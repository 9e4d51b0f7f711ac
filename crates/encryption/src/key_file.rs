//! Where keys come from: a variable, or a file in the data directory that the first start makes.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::DataKeys;
use crate::key::{self, DataKey, KEY};

/// The file in the data directory. One key a line, the newest first.
pub const KEY_FILE: &str = "data.key";

/// Holds the keys instead of the file, separated by spaces or commas.
pub const DATA_KEY_VARIABLE: &str = "CODEYARD_DATA_KEY";

/// Longest key file in bytes; room for 400 keys.
const MAX_FILE: u64 = 20_000;

/// Bits of the group and of others.
const OTHERS: u32 = 0o077;

/// Why there are no keys.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file cannot be read, or the first key cannot be written.
    #[error(
        "the key file {path} cannot be used: {cause}; make it readable for this user, or set {DATA_KEY_VARIABLE}",
        path = .file.display()
    )]
    File {
        /// Its path.
        file: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// Other users can read the file.
    #[error(
        "other users may read the key file {file}; run `chmod 600 {file}`, and replace the key if anyone has read it",
        file = .0.display()
    )]
    Shared(PathBuf),
    /// A key is not 32 bytes in base64.
    #[error(
        "{place}: key {number} is not 32 bytes in base64; make one with `head -c 32 /dev/urandom | base64`"
    )]
    Malformed {
        /// The file or the variable.
        place: String,
        /// Counted from 1.
        number: usize,
    },
    /// The file or the variable is empty.
    #[error("{0} holds no key; make one with `head -c 32 /dev/urandom | base64`")]
    Empty(String),
    /// Another process changes the file.
    #[error("another process rotates the keys in {file}; run the command again when it has ended", file = .0.display())]
    Busy(PathBuf),
    /// The system has no random numbers.
    #[error("the system gives no random numbers")]
    NoRandomness,
    /// More than 64 GiB.
    #[error("the text is too long to encrypt")]
    TooLong,
}

/// Identifies a version of the key file: differs after every change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileState {
    inode: u64,
    changed_s: i64,
    changed_ns: i64,
}

// === impl FileState ===

impl FileState {
    /// Of the key file in this directory; `None` if it is missing.
    pub fn of(directory: &Path) -> Option<FileState> {
        let found = fs::metadata(directory.join(KEY_FILE)).ok()?;
        Some(FileState {
            inode: found.ino(),
            changed_s: found.ctime(),
            changed_ns: found.ctime_nsec(),
        })
    }
}

// === impl DataKeys ===

impl DataKeys {
    /// The keys of the variable, if it is set, else those of the file in `directory`. Makes the file with a first key if
    /// it is missing; of several processes that start at once, all use the key of the one that was first.
    ///
    /// # Errors
    /// If a key is malformed, the file cannot be read or made, or other users may read it.
    pub fn load(directory: &Path, variable: Option<&str>) -> Result<DataKeys, KeyError> {
        if let Some(text) = variable {
            return parse(DATA_KEY_VARIABLE, text);
        }
        let file = directory.join(KEY_FILE);
        let failed = |cause| KeyError::File {
            file: file.clone(),
            cause,
        };
        let text = match read(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create(directory, &file)?;
                read(&file)
            }
            read => read,
        };
        let (text, mode) = text.map_err(failed)?;
        if mode & OTHERS != 0 {
            return Err(KeyError::Shared(file));
        }
        parse(&file.display().to_string(), &text)
    }
}

/// The file's text and mode.
fn read(file: &Path) -> io::Result<(String, u32)> {
    let opened = fs::File::open(file)?;
    let mode = opened.metadata()?.mode();
    let mut text = String::new();
    opened.take(MAX_FILE).read_to_string(&mut text)?;
    Ok((text, mode))
}

/// Writes a new key beside the file and links it there, so that no process reads half a key or replaces one.
fn create(directory: &Path, file: &Path) -> Result<(), KeyError> {
    let failed = |cause| KeyError::File {
        file: file.to_owned(),
        cause,
    };
    // On Postgres nothing else may have made the data directory yet.
    let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
    made.map_err(failed)?;
    let text = format!("{}\n", STANDARD.encode(key::random::<KEY>()?));
    let suffix = u64::from_le_bytes(key::random()?);
    let new = directory.join(format!("{KEY_FILE}.{suffix:016x}"));
    let written = write(&new, &text).and_then(|()| match fs::hard_link(&new, file) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    });
    // A leftover would be a second copy of the key; the link stays.
    let removed = fs::remove_file(&new);
    written.and(removed).map_err(failed)
}

pub(crate) fn write(file: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut opened = options.write(true).create_new(true).mode(0o600).open(file)?;
    opened.write_all(text.as_bytes())?;
    opened.sync_all()
}

fn parse(place: &str, text: &str) -> Result<DataKeys, KeyError> {
    let words = text.split(|character: char| character.is_whitespace() || character == ',');
    let keys: Result<Vec<DataKey>, KeyError> = words
        .filter(|word| !word.is_empty())
        .enumerate()
        .map(|(place_of_key, word)| {
            let bytes = STANDARD.decode(word).ok().and_then(|bytes| bytes.try_into().ok());
            bytes.map(DataKey::new).ok_or_else(|| KeyError::Malformed {
                place: place.to_owned(),
                number: place_of_key + 1,
            })
        })
        .collect();
    let mut keys = keys?.into_iter();
    let current = keys.next().ok_or_else(|| KeyError::Empty(place.to_owned()))?;
    Ok(DataKeys {
        current,
        older: keys.collect(),
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn load(directory: &Path) -> Result<DataKeys, String> {
        DataKeys::load(directory, None).map_err(|error| error.to_string())
    }

    #[test]
    fn the_first_start_makes_a_key_that_stays() {
        let directory = tempfile::tempdir().expect("a directory");
        let data = directory.path().join("data/codeyard");
        let sealed = load(&data)
            .expect("keys")
            .seal("c", b"x".to_vec())
            .expect("sealed");
        let again = load(&data).expect("keys");
        assert_eq!(again.open("c", &sealed), Ok(b"x".to_vec()));
        let names: Vec<_> = fs::read_dir(&data).expect("a list").collect();
        assert_eq!(names.len(), 1, "{names:?}");
    }

    #[test]
    fn of_many_that_start_at_once_all_have_one_key() {
        let directory = tempfile::tempdir().expect("a directory");
        let keys: Vec<DataKeys> = std::thread::scope(|scope| {
            let load = || scope.spawn(|| load(directory.path()).expect("keys"));
            let threads: Vec<_> = (0..8).map(|_| load()).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("a thread"))
                .collect()
        });
        let sealed = keys[0].seal("c", b"x".to_vec()).expect("sealed");
        assert!(keys.iter().all(|keys| keys.open("c", &sealed).is_ok()));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_remedy() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join(KEY_FILE);
        fs::write(&file, STANDARD.encode([1; KEY])).expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("changed");
        let error = load(directory.path()).expect_err("others may read it");
        assert!(error.contains("chmod 600"), "{error}");
        for (text, expected) in [
            ("", "holds no key"),
            ("short", "key 1 is not 32 bytes"),
            ("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=, x", "key 2 is not"),
        ] {
            let error = DataKeys::load(directory.path(), Some(text)).expect_err(text);
            let error = error.to_string();
            assert!(
                error.contains(expected) && error.contains(DATA_KEY_VARIABLE),
                "{error}"
            );
        }
    }
}
