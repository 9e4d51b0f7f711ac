//! Encrypts every recording again with a new key.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use encryption::{DATA_KEY_VARIABLE, DataKeys, KEY_FILE, KeyError, KeyMark, KeyRotation, OpenError};
use store::{Database, Recordings, SealedRecording, Trouble};

use crate::run_recordings::context;

/// What a rotation has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RotatedKeys {
    /// Recordings that the first key encrypts now, and another did before.
    pub encrypted: u64,
    /// Recordings that none of the keys decrypts, and that stay as they are.
    pub unreadable: u64,
    /// What became of the keys.
    pub keys: KeysAfter,
}

/// The keys after a rotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeysAfter {
    /// The key file has a new first key, and lost this many that nothing needs.
    InFile {
        /// Keys that were removed.
        removed: usize,
    },
    /// The variable stays as it is; these of its keys, counted from 1, are not needed any more.
    InVariable {
        /// Their places in the variable.
        unneeded: Vec<usize>,
    },
}

/// Why keys are not rotated.
#[derive(Debug, thiserror::Error)]
pub enum RotationError {
    /// The keys cannot be used.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// The database does not answer. What was encrypted again stays so.
    #[error("{0}; the rotation is not complete, and running the command again completes it")]
    Database(#[from] Trouble),
}

/// Adds a key to the file in `directory` and encrypts the recordings of `database` with it. If the variable is set, its
/// first key takes the place of a new one.
///
/// # Errors
/// If the keys or the database cannot be used. Nothing is lost then, and a repetition completes the rotation.
pub async fn rotate_keys(
    database: Database,
    directory: &Path,
    variable: Option<&str>,
) -> Result<RotatedKeys, RotationError> {
    let table = Recordings::new(database);
    let rotated = match variable {
        Some(_) => rotate_to_first(&table, &DataKeys::load(directory, variable)?).await,
        None => rotate_in_file(&table, directory).await,
    };
    table.close().await;
    rotated
}

/// Where the keys of recordings are, for people.
pub fn place_of_keys(directory: &Path, variable: Option<&str>) -> String {
    match variable {
        Some(_) => DATA_KEY_VARIABLE.to_owned(),
        None => directory.join(KEY_FILE).display().to_string(),
    }
}

async fn rotate_in_file(table: &Recordings, directory: &Path) -> Result<RotatedKeys, RotationError> {
    let rotation = KeyRotation::begin(directory)?;
    let keys = rotation.add_key()?;
    let (encrypted, unreadable) = encrypt_all(table, &keys).await?;
    let removed = rotation.remove_unneeded(&needed(table).await?)?;
    Ok(RotatedKeys {
        encrypted,
        unreadable,
        keys: KeysAfter::InFile { removed },
    })
}

async fn rotate_to_first(table: &Recordings, keys: &DataKeys) -> Result<RotatedKeys, RotationError> {
    let (encrypted, unreadable) = encrypt_all(table, keys).await?;
    let needed = needed(table).await?;
    let marks = keys.marks().into_iter().enumerate().skip(1);
    let unneeded = marks.filter(|(_, mark)| !needed.contains(mark));
    Ok(RotatedKeys {
        encrypted,
        unreadable,
        keys: KeysAfter::InVariable {
            unneeded: unneeded.map(|(place, _)| place + 1).collect(),
        },
    })
}

/// The numbers of recordings that were encrypted again, and that no key decrypts.
async fn encrypt_all(table: &Recordings, keys: &DataKeys) -> Result<(u64, u64), RotationError> {
    let newest = keys.marks().first().map(written).unwrap_or_default();
    let (mut encrypted, mut unreadable) = (0, 0);
    let mut after = None;
    loop {
        let page = table.of_other_keys(&newest, after.as_ref()).await?;
        for recording in &page {
            match encrypt_again(keys, recording)? {
                Ok(sealed) => encrypted += u64::from(table.replace(recording, &sealed).await?),
                Err(_) => unreadable += 1,
            }
        }
        match page.last() {
            Some(last) => after = Some(last.run.clone()),
            None => return Ok((encrypted, unreadable)),
        }
    }
}

fn encrypt_again(
    keys: &DataKeys,
    recording: &SealedRecording,
) -> Result<Result<String, OpenError>, KeyError> {
    let context = context(&recording.run, &recording.principal);
    let sealed = STANDARD.decode(&recording.sealed).map_err(|_| OpenError::Altered);
    match sealed.and_then(|sealed| keys.open(&context, &sealed)) {
        Ok(text) => Ok(Ok(STANDARD.encode(keys.seal(&context, text)?))),
        Err(error) => Ok(Err(error)),
    }
}

/// The keys that some recording needs.
async fn needed(table: &Recordings) -> Result<Vec<KeyMark>, Trouble> {
    let begun = table.keys_in_use().await?;
    let marks = begun
        .iter()
        .filter_map(|text| KeyMark::of(&STANDARD.decode(text).ok()?));
    Ok(marks.collect())
}

/// How texts of a key begin in the database.
fn written(mark: &KeyMark) -> String {
    STANDARD.encode(mark.as_bytes())
}

// Without a remainder, the first characters of a text are those of its mark.
const _: () =
    assert!(encryption::MARK.is_multiple_of(3) && encryption::MARK / 3 * 4 == store::KEY_CHARACTERS);
