//! A client's file as it may be changed: our own, not written by anybody else meanwhile, replaced as one step.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use clients::Client;
use environment::{Environment, Machine};

use crate::exit::{Exit, Failure};

/// Most backups of one file; there is one for each time that a person changed it after an installation.
const MOST_BACKUPS: u32 = 1000;

/// A client's file.
pub(super) struct ClientFile {
    /// Where it really is.
    pub(super) path: PathBuf,
    /// The link that leads to it, if one does.
    pub(super) link: Option<PathBuf>,
    /// What it held when it was read; none if it is not there.
    before: Option<Vec<u8>>,
}

impl ClientFile {
    /// Reads it, if it may be changed; one that is not there is empty, where its directory is there.
    pub(super) fn open(path: &Path, client: Client) -> anyhow::Result<ClientFile> {
        let is_link = path
            .symlink_metadata()
            .is_ok_and(|metadata| metadata.is_symlink());
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_link => {
                return ClientFile::absent(path, client);
            }
            Err(error) if is_link => {
                return Err(refused(
                    path,
                    &format!("is a link that leads nowhere: {error}; mend or remove it"),
                ));
            }
            Err(error) => return Err(refused(path, &environment::why_unreadable(&error))),
        };
        judge(&real)?;
        let read = Machine
            .read(&real)
            .map_err(|error| refused(&real, &environment::why_unreadable(&error)))?;
        let is_through_link = is_link.then(|| path.to_path_buf());
        Ok(ClientFile {
            path: real,
            link: is_through_link,
            before: Some(read),
        })
    }

    fn absent(path: &Path, client: Client) -> anyhow::Result<ClientFile> {
        let directory = path.parent().unwrap_or(Path::new("/"));
        let Ok(real) = directory.canonicalize() else {
            let why = format!(
                "there is no {}; start {client} once, so that it makes its files",
                directory.display()
            );
            return Err(Failure::new(Exit::Usage, why).into());
        };
        Ok(ClientFile {
            path: real.join(path.file_name().unwrap_or_default()),
            link: None,
            before: None,
        })
    }

    /// What it held when it was read; none if it is not there.
    pub(super) fn held(&self) -> Option<&[u8]> {
        self.before.as_deref()
    }

    /// The same; nothing if it is not there.
    pub(super) fn bytes(&self) -> &[u8] {
        self.before.as_deref().unwrap_or_default()
    }

    /// Keeps what it held beside it, for its owner only, under a name that nothing has yet; gives the name. Nothing is kept
    /// of a file that is not there.
    pub(super) fn keep(&self) -> anyhow::Result<Option<PathBuf>> {
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
                Err(error) => return Err(broken(&path, &error)),
            }
        }
        let why = format!(
            "{}: has {MOST_BACKUPS} copies beside it already, named *.before-codeyard-N; remove old ones. Nothing was changed",
            self.path.display()
        );
        Err(Failure::new(Exit::Usage, why).into())
    }

    /// Replaces it as one step, with its mode kept, unless it has changed since it was read.
    pub(super) fn replace(&self, bytes: &[u8]) -> anyhow::Result<()> {
        self.unchanged()?;
        Machine
            .replace(&self.path, bytes)
            .map_err(|error| broken(&self.path, &error))
    }

    /// Removes it, unless it has changed since it was read.
    pub(super) fn remove(&self) -> anyhow::Result<()> {
        self.unchanged()?;
        std::fs::remove_file(&self.path).map_err(|error| broken(&self.path, &error))
    }

    /// Whether it is as it was read.
    ///
    /// # Errors
    /// If it is not.
    pub(super) fn unchanged(&self) -> anyhow::Result<()> {
        if Machine.read(&self.path).ok() == self.before {
            return Ok(());
        }
        let why = format!(
            "{}: the file was changed meanwhile, as by the client itself; nothing was written, try again",
            self.path.display()
        );
        Err(Failure::new(Exit::Broken, why).into())
    }
}

/// Writes a file that is not there yet; what could not be written whole is removed.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = File::options();
    let mut file = options.write(true).create_new(true).mode(0o600).open(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        // The first error is the one to tell.
        let _ = std::fs::remove_file(path);
    }
    written
}

/// Whether the file is ours to change.
fn judge(path: &Path) -> anyhow::Result<()> {
    let metadata = path
        .metadata()
        .map_err(|error| refused(path, &environment::why_unreadable(&error)))?;
    let me = rustix::process::geteuid().as_raw();
    if metadata.uid() != me {
        let why = format!(
            "belongs to the user {}, not to you ({me}); run this as that user",
            metadata.uid()
        );
        return Err(refused(path, &why));
    }
    if metadata.mode() & 0o200 == 0 {
        return Err(refused(path, "may not be written; run `chmod u+w` on it first"));
    }
    Ok(())
}

fn refused(path: &Path, why: &str) -> anyhow::Error {
    Failure::new(Exit::Usage, format!("{}: {why}", path.display())).into()
}

fn broken(path: &Path, error: &io::Error) -> anyhow::Error {
    Failure::new(
        Exit::Broken,
        format!("{}: {error}; nothing was changed", path.display()),
    )
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_client_writes_meanwhile_stays() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("mcp.json");
        std::fs::write(&path, "one").unwrap();
        let file = ClientFile::open(&path, Client::Cursor).unwrap();
        std::fs::write(&path, "two").unwrap();
        let error = file.replace(b"three").unwrap_err().to_string();
        assert!(error.contains("was changed meanwhile"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        let file = ClientFile::open(&path, Client::Cursor).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(file.replace(b"three").is_err() && !path.exists());
        let file = ClientFile::open(&path, Client::Cursor).unwrap();
        std::fs::write(&path, "four").unwrap();
        assert!(file.replace(b"three").is_err() && file.keep().unwrap().is_none());
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
            let file = ClientFile::open(&path, Client::Cursor).unwrap();
            let backup = file.keep().unwrap().unwrap();
            assert_eq!(backup.file_name().unwrap(), expected);
        }
    }

    #[test]
    fn without_a_name_for_a_copy_nothing_goes_on() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("mcp.json");
        std::fs::write(&path, "one").unwrap();
        std::fs::write(home.path().join("mcp.json.before-codeyard"), "").unwrap();
        for number in 2..=MOST_BACKUPS {
            std::fs::write(home.path().join(format!("mcp.json.before-codeyard-{number}")), "").unwrap();
        }
        let file = ClientFile::open(&path, Client::Cursor).unwrap();
        let error = file.keep().unwrap_err().to_string();
        assert!(error.contains("remove old ones"), "{error}");
    }
}
