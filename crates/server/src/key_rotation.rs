//! Encrypts every recording again with a new key.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use encryption::{DATA_KEY_VARIABLE, DataKeys, KEY_FILE, KeyError, KeyMark, KeyRotation, OpenError};
use store::logins::{SealedLogin, UserLogins};
use store::{Database, Recordings, SealedRecording, Trouble};

use crate::run_recordings::context;
use crate::user_logins;

/// The result of a rotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RotatedKeys {
    /// Number of recordings that were encrypted again with the first key.
    pub encrypted: u64,
    /// Number of users' logins that were encrypted again.
    pub logins: u64,
    /// Number of recordings and logins that no key decrypts. They stay as they are.
    pub unreadable: u64,
    /// Changes of the keys.
    pub keys: KeysAfter,
}

/// The keys after a rotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeysAfter {
    /// The key file has a new first key.
    InFile {
        /// Number of removed keys, which nothing needs.
        removed: usize,
    },
    /// The keys are in the variable, which only the operator can change.
    InVariable {
        /// Positions, from 1, of keys that nothing needs.
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

/// Numbers of rows.
#[derive(Debug, Clone, Copy, Default)]
struct EncryptedAgain {
    recordings: u64,
    logins: u64,
    unreadable: u64,
}

/// The tables whose rows are encrypted.
struct SealedTables {
    recordings: Recordings,
    logins: UserLogins,
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
    let table = &SealedTables {
        logins: UserLogins::new(database.clone()),
        recordings: Recordings::new(database),
    };
    let rotated = match variable {
        Some(_) => rotate_to_first(table, &DataKeys::load(directory, variable)?).await,
        None => rotate_in_file(table, directory).await,
    };
    table.recordings.close().await;
    table.logins.close().await;
    rotated
}

/// Where the keys of recordings are, for people.
pub fn place_of_keys(directory: &Path, variable: Option<&str>) -> String {
    match variable {
        Some(_) => DATA_KEY_VARIABLE.to_owned(),
        None => directory.join(KEY_FILE).display().to_string(),
    }
}

async fn rotate_in_file(table: &SealedTables, directory: &Path) -> Result<RotatedKeys, RotationError> {
    let rotation = KeyRotation::begin(directory)?;
    let keys = rotation.add_key()?;
    let done = encrypt_all(table, &keys).await?;
    let removed = rotation.remove_unneeded(&needed(table).await?)?;
    Ok(RotatedKeys {
        encrypted: done.recordings,
        logins: done.logins,
        unreadable: done.unreadable,
        keys: KeysAfter::InFile { removed },
    })
}

async fn rotate_to_first(table: &SealedTables, keys: &DataKeys) -> Result<RotatedKeys, RotationError> {
    let done = encrypt_all(table, keys).await?;
    let needed = needed(table).await?;
    let marks = keys.marks().into_iter().enumerate().skip(1);
    let unneeded = marks.filter(|(_, mark)| !needed.contains(mark));
    Ok(RotatedKeys {
        encrypted: done.recordings,
        logins: done.logins,
        unreadable: done.unreadable,
        keys: KeysAfter::InVariable {
            unneeded: unneeded.map(|(place, _)| place + 1).collect(),
        },
    })
}

async fn encrypt_all(table: &SealedTables, keys: &DataKeys) -> Result<EncryptedAgain, RotationError> {
    let newest = keys.marks().first().map(written).unwrap_or_default();
    let mut done = EncryptedAgain::default();
    for login in table.logins.of_other_keys(&newest).await? {
        match encrypt_login(keys, &login)? {
            Ok(sealed) => done.logins += u64::from(table.logins.replace(&login, &sealed).await?),
            Err(_) => done.unreadable += 1,
        }
    }
    let mut after = None;
    loop {
        let page = table.recordings.of_other_keys(&newest, after.as_ref()).await?;
        for recording in &page {
            match encrypt_again(keys, recording)? {
                Ok(sealed) => {
                    done.recordings += u64::from(table.recordings.replace(recording, &sealed).await?);
                }
                Err(_) => done.unreadable += 1,
            }
        }
        match page.last() {
            Some(last) => after = Some(last.run.clone()),
            None => return Ok(done),
        }
    }
}

fn encrypt_again(
    keys: &DataKeys,
    recording: &SealedRecording,
) -> Result<Result<String, OpenError>, KeyError> {
    again(
        keys,
        &context(&recording.run, &recording.principal),
        &recording.sealed,
    )
}

fn encrypt_login(keys: &DataKeys, login: &SealedLogin) -> Result<Result<String, OpenError>, KeyError> {
    again(keys, &user_logins::context(&login.row), &login.sealed)
}

fn again(keys: &DataKeys, context: &str, sealed: &str) -> Result<Result<String, OpenError>, KeyError> {
    let sealed = STANDARD.decode(sealed).map_err(|_| OpenError::Altered);
    match sealed.and_then(|sealed| keys.open(context, &sealed)) {
        Ok(text) => Ok(Ok(STANDARD.encode(keys.seal(context, text)?))),
        Err(error) => Ok(Err(error)),
    }
}

/// The keys that some recording or login needs.
async fn needed(tables: &SealedTables) -> Result<Vec<KeyMark>, Trouble> {
    let mut begun = tables.recordings.keys_in_use().await?;
    begun.extend(tables.logins.keys_in_use().await?);
    Ok(marks(&begun))
}

/// The keys that these beginnings of encrypted rows name.
pub(crate) fn marks(begun: &[String]) -> Vec<KeyMark> {
    let marks = begun
        .iter()
        .filter_map(|text| KeyMark::of(&STANDARD.decode(text).ok()?));
    marks.collect()
}

/// The first characters of texts that this key has encrypted, as they are stored.
fn written(mark: &KeyMark) -> String {
    STANDARD.encode(mark.as_bytes())
}

// Base64 turns three bytes into four characters, so the characters of a mark hold only the mark.
const _: () =
    assert!(encryption::MARK.is_multiple_of(3) && encryption::MARK / 3 * 4 == store::KEY_CHARACTERS);
