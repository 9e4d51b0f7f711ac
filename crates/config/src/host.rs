//! What configuration takes from the machine: variables, the current directory, files.

use std::fs::TryLockError;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Longest configuration file that is read; a longer one is a mistake, not a configuration.
pub const MAX_FILE: u64 = 16 * 1024 * 1024;

/// A change takes milliseconds; whoever holds a directory for longer than this has been stopped, or is no codeyard.
const LONGEST_HOLD: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(5);

/// The machine as configuration sees it. Tests pass a map.
pub trait Host {
    /// The variable of that name, if it is set.
    fn var(&self, name: &str) -> Result<Option<String>, NotUnicode>;

    /// The names of all variables that begin so, in order; those that are no text are left out.
    fn names(&self, prefix: &str) -> Vec<String>;

    /// The directory the process was started in.
    fn current_dir(&self) -> io::Result<PathBuf>;

    /// The path without links and relative parts; the file must exist.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// The whole content of a regular file of at most [`MAX_FILE`] bytes.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Replaces the file as one step; only its owner may read it. Makes its directory.
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Waits until no other codeyard changes a file of this one's directory, and keeps them waiting. Makes the directory.
    fn hold(&self, path: &Path) -> io::Result<Hold>;
}

/// As long as this lives, no other codeyard changes the file.
#[derive(Debug, Default)]
pub struct Hold(
    #[expect(dead_code, reason = "the lock lives as long as its file is open")] Option<std::fs::File>,
);

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

    fn hold(&self, path: &Path) -> io::Result<Hold> {
        hold(path)
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
    std::fs::File::open(path)?
        .take(MAX_FILE + 1)
        .read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_FILE {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("the file is larger than {} MiB", MAX_FILE / 1024 / 1024),
        ));
    }
    Ok(bytes)
}

/// Holds the file's directory, which is there as long as the file is replaced: no file of ours is left beside it.
fn hold(path: &Path) -> io::Result<Hold> {
    let directory = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory)?;
    let handle = std::fs::File::open(directory)?;
    let end = Instant::now() + LONGEST_HOLD;
    loop {
        match handle.try_lock() {
            Ok(()) => return Ok(Hold(Some(handle))),
            Err(TryLockError::WouldBlock) if Instant::now() < end => std::thread::sleep(STEP),
            Err(TryLockError::WouldBlock) => {
                let what = "another process keeps its directory locked";
                return Err(io::Error::new(io::ErrorKind::TimedOut, what));
            }
            // A file system without locks: then nobody is waited for.
            Err(TryLockError::Error(_)) => return Ok(Hold(None)),
        }
    }
}

/// Writes beside the file and renames, so that a reader sees the old or the new content and a full disk leaves the old.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;

    let directory = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let temporary = directory.join(name);
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&temporary)
        .and_then(|mut file| {
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
    use std::os::unix::fs::PermissionsExt;

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
