//! A client's file for an edit: owned by this user, unchanged since it was read, replaced atomically.

use std::ffi::OsString;
use std::fs::{File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use clients::Client;
use environment::{Environment, Machine, why_unreadable};

use crate::error::AdoptionError;

/// Maximum backups per file. Each installation after a person's change creates a backup.
const MOST_BACKUPS: u32 = 1000;

/// A client's file for an edit.
pub struct EditedFile {
    /// Path with all links resolved.
    pub path: PathBuf,
    /// The link through which the file was opened, if any.
    pub link: Option<PathBuf>,
    /// Content as read; `None` if the file is missing.
    before: Option<Vec<u8>>,
}

/// The mode of a changed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileMode {
    /// The mode stays unchanged; a new file is private.
    Kept,
    /// Only the owner may read the file.
    Private,
}

impl EditedFile {
    /// Opens the file, if this user may change it. A missing file counts as empty, if its directory exists.
    pub fn open(path: &Path, client: Client) -> Result<EditedFile, AdoptionError> {
        let is_link = path
            .symlink_metadata()
            .is_ok_and(|metadata| metadata.is_symlink());
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_link => {
                return EditedFile::absent(path, client);
            }
            Err(error) if is_link => {
                return Err(refused(
                    path,
                    &format!("is a broken symbolic link: {error}; fix or remove it"),
                ));
            }
            Err(error) => return Err(refused(path, &why_unreadable(&error))),
        };
        check_owner(&real)?;
        let read = Machine
            .read(&real)
            .map_err(|error| refused(&real, &why_unreadable(&error)))?;
        let is_through_link = is_link.then(|| path.to_path_buf());
        Ok(EditedFile {
            path: real,
            link: is_through_link,
            before: Some(read),
        })
    }

    fn absent(path: &Path, client: Client) -> Result<EditedFile, AdoptionError> {
        let directory = path.parent().unwrap_or(Path::new("/"));
        let Ok(real) = directory.canonicalize() else {
            return Err(AdoptionError::NoDirectory {
                directory: directory.to_path_buf(),
                client,
            });
        };
        Ok(EditedFile {
            path: real.join(path.file_name().unwrap_or_default()),
            link: None,
            before: None,
        })
    }

    /// Content as read; `None` if the file is missing.
    pub(crate) fn content(&self) -> Option<&[u8]> {
        self.before.as_deref()
    }

    /// Content as read; empty if the file is missing.
    pub fn bytes(&self) -> &[u8] {
        self.before.as_deref().unwrap_or_default()
    }

    /// Copies the content to a new private file in the same directory; returns its path. `None` if the file
    /// is missing.
    pub(crate) fn back_up(&self) -> Result<Option<PathBuf>, AdoptionError> {
        let Some(before) = &self.before else {
            return Ok(None);
        };
        for number in 1..=MOST_BACKUPS {
            let mut name = OsString::from(self.path.file_name().unwrap_or_default());
            name.push(".before-codeyard");
            if number > 1 {
                name.push(format!("-{number}"));
            }
            let path = self.path.with_file_name(name);
            match write_new(&path, before) {
                Ok(()) => return Ok(Some(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(broken(&path, error)),
            }
        }
        Err(AdoptionError::TooManyBackups {
            file: self.path.clone(),
            most: MOST_BACKUPS,
        })
    }

    /// Replaces the file atomically and keeps the mode. Fails if the file was changed after it was read.
    pub(crate) fn replace(&self, bytes: &[u8]) -> Result<(), AdoptionError> {
        self.check_unchanged()?;
        Machine
            .replace(&self.path, bytes)
            .map_err(|error| broken(&self.path, error))
    }

    /// Removes the rights of other users.
    pub(crate) fn make_private(&self) -> Result<(), AdoptionError> {
        if self.before.is_none() {
            // A new file is private.
            return Ok(());
        }
        let failed = |error| broken(&self.path, error);
        let mode = self.path.metadata().map_err(failed)?.mode() & 0o700;
        std::fs::set_permissions(&self.path, Permissions::from_mode(mode)).map_err(failed)
    }

    /// Removes the file. Fails if the file was changed after it was read.
    pub(crate) fn remove(&self) -> Result<(), AdoptionError> {
        self.check_unchanged()?;
        std::fs::remove_file(&self.path).map_err(|error| broken(&self.path, error))
    }

    /// Fails if the file was changed after it was read.
    pub(crate) fn check_unchanged(&self) -> Result<(), AdoptionError> {
        if Machine.read(&self.path).ok() == self.before {
            return Ok(());
        }
        Err(AdoptionError::ChangedFile(self.path.clone()))
    }
}

/// Writes a new file; removes it if the write fails.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = File::options();
    let mut file = options.write(true).create_new(true).mode(0o600).open(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        // Report the first error.
        let _ = std::fs::remove_file(path);
    }
    written
}

/// Checks that this user owns the file and may write it.
fn check_owner(path: &Path) -> Result<(), AdoptionError> {
    let metadata = path
        .metadata()
        .map_err(|error| refused(path, &why_unreadable(&error)))?;
    let me = rustix::process::geteuid().as_raw();
    if metadata.uid() != me {
        let why = format!(
            "belongs to the user {}, not to you ({me}); run this as that user",
            metadata.uid()
        );
        return Err(refused(path, &why));
    }
    if metadata.mode() & 0o200 == 0 {
        return Err(refused(path, "is write-protected; run `chmod u+w` on it first"));
    }
    Ok(())
}

fn refused(path: &Path, why: &str) -> AdoptionError {
    AdoptionError::NotEditable {
        file: path.to_path_buf(),
        reason: why.to_owned(),
    }
}

fn broken(path: &Path, cause: io::Error) -> AdoptionError {
    AdoptionError::Write {
        file: path.to_path_buf(),
        cause,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concurrent_changes_of_the_client_stay() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("mcp.json");
        std::fs::write(&path, "one").unwrap();
        let file = EditedFile::open(&path, Client::Cursor).unwrap();
        std::fs::write(&path, "two").unwrap();
        let error = file.replace(b"three").unwrap_err().to_string();
        assert!(error.contains("was changed meanwhile"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        let file = EditedFile::open(&path, Client::Cursor).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(file.replace(b"three").is_err() && !path.exists());
        let file = EditedFile::open(&path, Client::Cursor).unwrap();
        std::fs::write(&path, "four").unwrap();
        assert!(file.replace(b"three").is_err() && file.back_up().unwrap().is_none());
    }

    #[test]
    fn no_backup_is_overwritten() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("mcp.json");
        std::fs::write(&path, "one").unwrap();
        for expected in [
            "mcp.json.before-codeyard",
            "mcp.json.before-codeyard-2",
            "mcp.json.before-codeyard-3",
        ] {
            let file = EditedFile::open(&path, Client::Cursor).unwrap();
            let backup = file.back_up().unwrap().unwrap();
            assert_eq!(backup.file_name().unwrap(), expected);
        }
    }

    #[test]
    fn too_many_backups_are_an_error() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("mcp.json");
        std::fs::write(&path, "one").unwrap();
        std::fs::write(home.path().join("mcp.json.before-codeyard"), "").unwrap();
        for number in 2..=MOST_BACKUPS {
            std::fs::write(home.path().join(format!("mcp.json.before-codeyard-{number}")), "").unwrap();
        }
        let file = EditedFile::open(&path, Client::Cursor).unwrap();
        let error = file.back_up().unwrap_err().to_string();
        assert!(error.contains("remove old copies"), "{error}");
    }
}
