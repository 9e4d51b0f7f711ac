//! A client's file as it may be changed: our own, not written by anybody else meanwhile, replaced as one step.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use clients::Client;
use config::{Host, Machine};

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
            Err(error) => return Err(refused(path, &config::why_unreadable(&error))),
        };
        judge(&real)?;
        let read = Machine
            .read(&real)
            .map_err(|error| refused(&real, &config::why_unreadable(&error)))?;
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

    /// A name beside it for what it holds that nothing has yet; none if it is not there.
    pub(super) fn backup(&self) -> Option<PathBuf> {
        self.before.as_ref()?;
        let name = |number: u32| {
            let mut name = OsString::from(self.path.file_name().unwrap_or_default());
            name.push(".before-codeyard");
            if number > 1 {
                name.push(format!("-{number}"));
            }
            self.path.with_file_name(name)
        };
        (1..=MOST_BACKUPS)
            .map(name)
            .find(|path| path.symlink_metadata().is_err())
    }

    /// Keeps what it held under another name, for its owner only.
    pub(super) fn save_as(&self, path: &Path) -> anyhow::Result<()> {
        Machine
            .replace(path, self.bytes())
            .map_err(|error| broken(path, &error))
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

    fn unchanged(&self) -> anyhow::Result<()> {
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

/// Whether the file is ours to change.
fn judge(path: &Path) -> anyhow::Result<()> {
    let metadata = path
        .metadata()
        .map_err(|error| refused(path, &config::why_unreadable(&error)))?;
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
        assert!(file.replace(b"three").is_err() && file.backup().is_none());
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
            let backup = file.backup().unwrap();
            assert_eq!(backup.file_name().unwrap(), expected);
            file.save_as(&backup).unwrap();
        }
    }
}
