//! What configuration takes from the machine: variables, the current directory, files.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Longest configuration file that is read; a longer one is a mistake, not a configuration.
pub const MAX_FILE: u64 = 16 * 1024 * 1024;

/// Longest wait for a lock, which others hold while they write a few small files.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);
/// Between two tries to have it.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The machine as configuration sees it. Tests pass a map.
pub trait Host {
    /// The variable of that name, if it is set.
    fn var(&self, name: &str) -> Result<Option<String>, NotUnicode>;

    /// Whether there is a secret of that name which these variables are without.
    fn withholds(&self, _name: &str) -> bool {
        false
    }

    /// Whether what the variable of that name holds is kept as a secret.
    fn is_secret(&self, _name: &str) -> bool {
        false
    }

    /// The names of all variables that begin so, in order; those that are no text are left out.
    fn names(&self, prefix: &str) -> Vec<String>;

    /// The directory the process was started in.
    fn current_dir(&self) -> io::Result<PathBuf>;

    /// The path without links and relative parts; the file must exist.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// The whole content of a regular file of at most [`MAX_FILE`] bytes.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Replaces the file as one step. One that is there keeps its mode; a new one is for its owner only. Makes its directory.
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Whether nobody but its owner may read or write the file.
    fn is_private(&self, _path: &Path) -> bool {
        true
    }

    /// Locks that file, which it makes, against all other processes for as long as what is returned is open;
    /// `WouldBlock` if another one does not let go. Nothing where there are no others, as in a test.
    fn lock(&self, _path: &Path) -> io::Result<Option<File>> {
        Ok(None)
    }
}

/// A variable holds bytes that are no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("holds bytes that are no UTF-8 text")]
pub struct NotUnicode;

/// This machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Machine;

impl Host for Machine {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads variables"
    )]
    fn var(&self, name: &str) -> Result<Option<String>, NotUnicode> {
        match std::env::var(name) {
            Ok(value) => Ok(Some(value)),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(std::env::VarError::NotUnicode(_)) => Err(NotUnicode),
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads variables"
    )]
    fn names(&self, prefix: &str) -> Vec<String> {
        let mut names: Vec<String> = std::env::vars_os()
            .filter_map(|(name, _)| name.into_string().ok())
            .filter(|name| name.starts_with(prefix))
            .collect();
        names.sort_unstable();
        names
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        std::env::current_dir()
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        path.canonicalize()
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        read(path)
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        replace(path, bytes)
    }

    fn is_private(&self, path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|metadata| metadata.mode() & 0o077 == 0)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<File>> {
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        let mut options = File::options();
        let file = options
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(file)),
                Err(TryLockError::WouldBlock) if begun.elapsed() < LOCK_PATIENCE => {
                    std::thread::sleep(LOCK_PAUSE)
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Reads a file that may have become anything: a pipe would be waited for, and a device has no end.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    use std::io::Read as _;

    let metadata = std::fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !metadata.is_file() {
        let what = "this is no regular file; write the text into one";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_FILE {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("the file is larger than {} MiB", MAX_FILE / 1024 / 1024),
        ));
    }
    Ok(bytes)
}

/// Writes beside the file and renames, so that a reader sees the old or the new content and a full disk leaves the old.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write as _;

    let before = std::fs::metadata(path).ok();
    let directory = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let temporary = directory.join(name);
    let written = File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&temporary)
        .and_then(|mut file| {
            if let Some(before) = before {
                // Only root may give a file away; whoever else replaces one owns it.
                let _ = std::os::unix::fs::fchown(&file, Some(before.uid()), Some(before.gid()));
                file.set_permissions(before.permissions())?;
            }
            file.write_all(bytes)?;
            file.sync_all()
        })
        .and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        // The first error is the one to tell; what could not be written may not exist either.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn replace_leaves_one_private_file() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a/b/trust.json");
        Machine.replace(&path, b"one").unwrap();
        Machine.replace(&path, b"two").unwrap();
        assert_eq!(Machine.read(&path).unwrap(), b"two");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(path.parent().unwrap().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_is_there_keeps_its_mode() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("mcp.json");
        std::fs::write(&path, b"one").unwrap();
        for mode in [0o644, 0o660, 0o600] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            Machine.replace(&path, b"two").unwrap();
            assert_eq!(path.metadata().unwrap().mode() & 0o777, mode);
        }
    }

    #[test]
    fn one_has_the_lock_at_a_time() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a/lock");
        let counter = home.path().join("counter");
        std::fs::write(&counter, "0").unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let _lock = Machine.lock(&path).unwrap();
                    let count: u32 = std::fs::read_to_string(&counter).unwrap().parse().unwrap();
                    std::fs::write(&counter, (count + 1).to_string()).unwrap();
                });
            }
        });
        assert_eq!(std::fs::read_to_string(&counter).unwrap(), "8");
    }

    #[test]
    fn a_failed_replace_leaves_nothing() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("taken");
        std::fs::create_dir(&path).unwrap();
        assert!(Machine.replace(&path, b"one").is_err());
        assert_eq!(home.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn directories_and_huge_files_are_not_read() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(
            Machine.read(home.path()).unwrap_err().kind(),
            io::ErrorKind::IsADirectory
        );
        let huge = home.path().join("huge");
        std::fs::File::create(&huge)
            .unwrap()
            .set_len(MAX_FILE + 1)
            .unwrap();
        assert!(
            Machine
                .read(&huge)
                .unwrap_err()
                .to_string()
                .contains("larger than 16 MiB")
        );
    }
}
