//! The trait `Environment` (variables, current directory, files), implemented for this machine.

use std::fs::{DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::ownership::{check_directory, check_file, directory_of, has_trusted_owner};

/// Largest configuration file, in bytes.
pub const MAX_FILE: u64 = 16 * 1024 * 1024;

/// Deadline for a lock. Other processes hold the lock only while they write a few small files.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Variables, directories and files for configuration. Tests pass maps.
pub trait Environment {
    /// The value of a variable, if set.
    fn var(&self, name: &str) -> Result<Option<String>, NotUnicode>;

    /// Whether these variables omit a stored secret of this name.
    fn withholds(&self, _name: &str) -> bool {
        false
    }

    /// Whether the value comes from the stored secrets.
    fn is_secret(&self, _name: &str) -> bool {
        false
    }

    /// All variables with this prefix, sorted, without names that are not UTF-8.
    fn names(&self, prefix: &str) -> Vec<String>;

    /// The current directory of the process.
    fn current_dir(&self) -> io::Result<PathBuf>;

    /// The path with links and relative parts resolved. The file must exist.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// The content of a regular file of at most [`MAX_FILE`] bytes.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Reads a file that decides about started programs or receivers of secrets. Fails with `InvalidInput` and the
    /// remedy if another user except root can change the file.
    fn read_protected(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.read(path)
    }

    /// Replaces the file atomically. An existing file keeps its mode; a new file and missing
    /// directories are private to their owner.
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Whether only the owner may read or write the file.
    fn is_private(&self, _path: &Path) -> bool {
        true
    }

    /// Creates the file and locks it against other processes until the returned file is closed.
    /// `None` if there are no other processes, as in a test.
    ///
    /// # Errors
    /// `WouldBlock` after a time-out; `InvalidInput` if other users can change the directory.
    fn lock(&self, _path: &Path) -> io::Result<Option<File>> {
        Ok(None)
    }
}

/// The value is not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("holds bytes that are not valid UTF-8")]
pub struct NotUnicode;

/// This machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Machine;

impl Environment for Machine {
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
        read(path, |_| Ok(()))
    }

    fn read_protected(&self, path: &Path) -> io::Result<Vec<u8>> {
        read(path, |file| check_file(path, &file.metadata()?))
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        replace(path, bytes)
    }

    fn is_private(&self, path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|metadata| metadata.mode() & 0o077 == 0)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<File>> {
        let directory = directory_of(path);
        make(directory)?;
        check_directory(directory)?;
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
                Err(TryLockError::WouldBlock) if begun.elapsed() < LOCK_TIMEOUT => {
                    std::thread::sleep(LOCK_PAUSE)
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Reads a regular file only, because a pipe would block, and a device may have no end.
fn read(path: &Path, check: impl FnOnce(&File) -> io::Result<()>) -> io::Result<Vec<u8>> {
    use std::io::Read as _;

    let metadata = std::fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !metadata.is_file() {
        let what = "this is not a regular file; write the text into a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let file = File::open(path)?;
    check(&file)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_FILE {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("the file is larger than {} MiB", MAX_FILE / 1024 / 1024),
        ));
    }
    Ok(bytes)
}

/// Creates a directory and its parents, private to the user independent of the umask.
fn make(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

/// Writes a temporary file in the same directory and renames it. So readers see the old or the new content, and a
/// full disk keeps the old content. The temporary name is random and must not exist, to follow no link of another
/// user.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write as _;

    let before = path.symlink_metadata().ok();
    let before = before.filter(|before| before.is_file() && has_trusted_owner(before));
    let directory = directory_of(path);
    make(directory)?;
    let mut options = File::options();
    options.write(true).create_new(true).mode(0o600);
    let mut temporary = tempfile::Builder::new()
        .suffix(".new")
        .make_in(directory, |path| options.open(path))?;
    let file = temporary.as_file_mut();
    if let Some(before) = before {
        // Fails for a user outside the group; the new file then has the user's group.
        let _ = std::os::unix::fs::fchown(&*file, None, Some(before.gid()));
        file.set_permissions(before.permissions())?;
    }
    file.write_all(bytes)?;
    file.sync_all()?;
    temporary.persist(path)?;
    Ok(())
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
    fn an_existing_file_keeps_its_mode() {
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
    fn new_directories_are_private() {
        let home = tempfile::tempdir().unwrap();
        Machine.replace(&home.path().join("a/b/mcp.json"), b"{}").unwrap();
        Machine.lock(&home.path().join("c/d/lock")).unwrap();
        for made in ["a", "a/b", "c", "c/d"] {
            let mode = home.path().join(made).metadata().unwrap().mode();
            assert_eq!(mode & 0o777, 0o700, "{made}");
        }
    }

    #[test]
    fn the_target_of_a_link_is_not_written() {
        let home = tempfile::tempdir().unwrap();
        let (path, precious) = (home.path().join("mcp.json"), home.path().join("precious"));
        std::fs::write(&precious, b"one").unwrap();
        std::os::unix::fs::symlink(&precious, &path).unwrap();
        Machine.replace(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&precious).unwrap(), b"one");
        assert_eq!(path.symlink_metadata().unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_lock_in_a_shared_directory_is_refused() {
        let home = tempfile::tempdir().unwrap();
        std::fs::set_permissions(home.path(), PermissionsExt::from_mode(0o777)).unwrap();
        let error = Machine.lock(&home.path().join("lock")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert_eq!(home.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn the_lock_is_exclusive() {
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
    fn a_failed_replace_leaves_no_file() {
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
