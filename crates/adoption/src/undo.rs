//! Undoes installations: restores a client's file, or removes codeyard's part if a person changed the file.

use std::path::{Path, PathBuf};

use clients::{ClientFile, ReplacedServer};
use environment::{ChangeLock, Environment, Machine};

use crate::client_files::text_of;
use crate::diff::diff;
use crate::edited_file::EditedFile;
use crate::error::AdoptionError;
use crate::installations::{Installation, installations, store_installations};

/// Undoes all installations in one file, the latest first.
pub struct Undo {
    installations: Vec<Installation>,
    /// Content after the undo; `None` if the file is removed.
    after: Option<Vec<u8>>,
    /// Whether a person changed the file after the installation, so that only codeyard's part is removed.
    pub is_partial: bool,
    /// Servers that stay unchanged, each with the reason.
    pub skipped: Vec<(String, String)>,
    /// Backups that are no longer needed.
    backups: Vec<PathBuf>,
}

/// Prepares the undo of all installations in a file.
///
/// # Errors
/// If codeyard is not installed, or the file cannot be restored.
pub fn undo(place: &ClientFile, file: &EditedFile, data: &Path) -> Result<Undo, AdoptionError> {
    let all = installations(&file.path, data, &Machine)?;
    if all.is_empty() {
        return Err(not_installed(place, file)?);
    }
    let mut undo = Undo {
        installations: Vec::new(),
        after: file.content().map(<[u8]>::to_vec),
        is_partial: false,
        skipped: Vec::new(),
        backups: Vec::new(),
    };
    for installation in all.iter().rev() {
        undo.take_back(place, file, installation)?;
    }
    undo.installations = all;
    Ok(undo)
}

/// The error without an installation: codeyard is not installed, or was installed with another data directory.
fn not_installed(place: &ClientFile, file: &EditedFile) -> Result<AdoptionError, AdoptionError> {
    let text = text_of(&file.path, file.bytes())?;
    let document = place.client.format().parse(&text).unwrap_or_default();
    let Some(entry) = clients::installed(place.client, &document) else {
        return Ok(AdoptionError::NotInstalled(file.path.clone()));
    };
    let data = clients::data(entry).map(|data| format!("`{data}`"));
    Ok(AdoptionError::OtherDataDirectory {
        file: file.path.clone(),
        data: data.unwrap_or_else(|| "that `--data`".to_owned()),
    })
}

impl Undo {
    /// Undoes one installation: restores the whole file if unchanged, otherwise removes only codeyard's part.
    fn take_back(
        &mut self,
        place: &ClientFile,
        file: &EditedFile,
        installation: &Installation,
    ) -> Result<(), AdoptionError> {
        let before = match &installation.backup {
            Some(backup) => Some(original(file, installation, backup)?),
            None => None,
        };
        let is_unchanged = self
            .after
            .as_deref()
            .is_some_and(|bytes| installation.wrote(bytes));
        if before == self.after || is_unchanged {
            self.after = before;
            self.backups.extend(installation.backup.clone());
            return Ok(());
        }
        let now = text_of(&file.path, self.after.as_deref().unwrap_or_default())?;
        let then = text_of(&file.path, before.as_deref().unwrap_or_default())?;
        let taken = installation.taken.iter().filter_map(|keys| {
            let (name, list) = keys.split_last()?;
            Some(ReplacedServer {
                list: list.to_vec(),
                name: name.clone(),
            })
        });
        let taken: Vec<ReplacedServer> = taken.collect();
        let restored = clients::restore(place.client, &now, &then, &taken, &installation.entry);
        let restored = restored.map_err(|error| {
            let diff = diff(
                place.client,
                &now,
                &then,
                &clients::own_texts(place.client, &installation.entry),
            );
            AdoptionError::ChangedEntry {
                file: file.path.clone(),
                cause: error,
                original: match &installation.backup {
                    Some(backup) => format!("the original is in {}", backup.display()),
                    None => "the file did not exist before".to_owned(),
                },
                diff: diff.trim_end().to_owned(),
            }
        })?;
        self.after = Some(restored.text.into_bytes());
        self.is_partial = true;
        self.skipped.extend(restored.left);
        Ok(())
    }

    /// Writes the file and removes the installations from the list.
    ///
    /// # Errors
    /// If a file changed in the meantime or cannot be written.
    pub fn write(&self, file: &EditedFile, data: &Path) -> Result<(), AdoptionError> {
        let lock = ChangeLock::acquire(data, &Machine)?;
        if installations(&file.path, data, &Machine)? != self.installations {
            return Err(AdoptionError::ChangedInstallations(file.path.clone()));
        }
        match &self.after {
            after if after.as_deref() == file.content() => {}
            Some(bytes) => file.replace(bytes)?,
            None => file.remove()?,
        }
        store_installations(&file.path, &[], &lock)?;
        for backup in &self.backups {
            // The backup's content is restored, or was an intermediate state. A leftover backup is harmless.
            let _ = std::fs::remove_file(backup);
        }
        Ok(())
    }

    /// The unified diff of the undo. Hides texts that may be secrets.
    ///
    /// # Errors
    /// If the file is not UTF-8.
    pub fn diff(&self, place: &ClientFile, file: &EditedFile) -> Result<String, AdoptionError> {
        let now = text_of(&file.path, file.bytes())?;
        let after = text_of(&file.path, self.after.as_deref().unwrap_or_default())?;
        let texts = |installation: &Installation| clients::own_texts(place.client, &installation.entry);
        let shown: Vec<String> = self.installations.iter().flat_map(texts).collect();
        Ok(diff(place.client, &now, &after, &shown))
    }
}

/// The original content, if the backup still has it.
fn original(file: &EditedFile, installation: &Installation, backup: &Path) -> Result<Vec<u8>, AdoptionError> {
    let bytes = Machine.read(backup).map_err(|cause| AdoptionError::NoBackup {
        backup: backup.to_path_buf(),
        cause,
    })?;
    if installation.replaced(&bytes) {
        return Ok(bytes);
    }
    Err(AdoptionError::ChangedBackup {
        backup: backup.to_path_buf(),
        file: file.path.clone(),
    })
}
