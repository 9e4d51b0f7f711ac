//! Errors of imports, installations and undos.

use std::io;
use std::path::PathBuf;

use clients::Client;
use environment::{Mistakes, StateError, why_unreadable};
use registry::EditError;

/// A failed or refused import, installation or undo.
#[derive(Debug, thiserror::Error)]
pub enum AdoptionError {
    /// `HOME` is not set.
    #[error("HOME is not set, so codeyard cannot find clients' files; set HOME")]
    NoHome,
    /// The client is unknown.
    #[error("codeyard does not know a client `{name}`; {hint}the clients are {known}")]
    UnknownClient {
        /// The person's spelling.
        name: String,
        /// A question with the nearest client, or empty.
        hint: String,
        /// The known clients.
        known: String,
    },
    /// The client has no configuration file.
    #[error("{file}: {reason}", file = .file.display())]
    NoSource {
        /// Its path.
        file: PathBuf,
        /// Why it cannot be read.
        reason: String,
    },
    /// The file is not UTF-8 text.
    #[error("{file}: holds bytes that are not valid UTF-8", file = .0.display())]
    NotText(PathBuf),
    /// The file does not have the format of its client.
    #[error("{file}: {cause}; nothing was changed. Fix the file, or try again if another program was just writing it", file = .file.display())]
    Format {
        /// Its path.
        file: PathBuf,
        /// The mistake.
        cause: clients::Unreadable,
    },
    /// The client has not created its directory yet.
    #[error("{directory} does not exist; start {client} once to create its files", directory = .directory.display())]
    NoDirectory {
        /// Its path.
        directory: PathBuf,
        /// The client that creates the directory.
        client: Client,
    },
    /// The file must not be changed.
    #[error("{file}: {reason}", file = .file.display())]
    NotEditable {
        /// Its path.
        file: PathBuf,
        /// The reason with the remedy.
        reason: String,
    },
    /// Codeyard's entry does not fit into the file.
    #[error("{file}: {cause}; nothing was changed", file = .file.display())]
    Unusual {
        /// Its path.
        file: PathBuf,
        /// Why the entry does not fit.
        cause: clients::Refused,
    },
    /// The file has too many backups.
    #[error(
        "{file}: already has {most} copies named *.before-codeyard-N; remove old copies. Nothing was changed",
        file = .file.display()
    )]
    TooManyBackups {
        /// Its path.
        file: PathBuf,
        /// The limit.
        most: u32,
    },
    /// Codeyard was not installed in the file.
    #[error("there is nothing to undo: codeyard was not installed in {file}", file = .0.display())]
    NotInstalled(PathBuf),
    /// Codeyard was installed with another data directory.
    #[error("{file}: has an entry `codeyard` that was installed with another data directory; give {data}, or remove the entry by hand", file = .file.display())]
    OtherDataDirectory {
        /// Its path.
        file: PathBuf,
        /// The data directory, or where to look for it.
        data: String,
    },
    /// The backup cannot be read.
    #[error("{backup}: {reason}; it is the backup of the file, so nothing can be restored", backup = .backup.display(), reason = why_unreadable(.cause))]
    NoBackup {
        /// Its path.
        backup: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// The backup was changed.
    #[error("{backup}: was changed after it was made, so it is no longer the original of {file}; nothing was changed. Restore the backup, or edit {file} by hand: remove the entry `codeyard` and add your servers", backup = .backup.display(), file = .file.display())]
    ChangedBackup {
        /// Its path.
        backup: PathBuf,
        /// The file of which it is a backup.
        file: PathBuf,
    },
    /// A person changed the part of the file that codeyard wrote.
    #[error("{file}: was changed since codeyard was installed: {cause}. Nothing was changed; {original}. Restoring it would change:\n{diff}", file = .file.display())]
    ChangedEntry {
        /// Its path.
        file: PathBuf,
        /// Why the part cannot be removed.
        cause: clients::Refused,
        /// Where the original is.
        original: String,
        /// The diff of a full restore.
        diff: String,
    },
    /// A planned server has a name that definitions may not have.
    #[error("{0}")]
    Name(String),
    /// The stored secrets have mistakes.
    #[error(transparent)]
    Secrets(#[from] Mistakes),
    /// The file of definitions cannot be edited.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// Another program changed the client's file.
    #[error("{file}: the file was changed meanwhile, perhaps by the client; nothing was written, try again", file = .0.display())]
    ChangedFile(PathBuf),
    /// Another codeyard changed the list of installations.
    #[error("{file}: another codeyard has changed it meanwhile; nothing was changed, try again", file = .0.display())]
    ChangedInstallations(PathBuf),
    /// The client's file or a backup cannot be written.
    #[error("{file}: {cause}; nothing was changed", file = .file.display())]
    Write {
        /// Its path.
        file: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// A state file cannot be read or changed.
    #[error(transparent)]
    State(#[from] StateError),
}
