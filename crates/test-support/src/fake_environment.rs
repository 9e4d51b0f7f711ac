//! Variables and files in maps, for tests of configuration.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use environment::{Environment, NotUnicode};

/// Variables and files that exist only in memory; the current directory is `/project`.
#[derive(Debug, Default)]
pub struct FakeEnvironment {
    vars: BTreeMap<String, String>,
    files: RefCell<BTreeMap<PathBuf, Vec<u8>>>,
}

impl FakeEnvironment {
    /// Creates an environment without variables and files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a variable.
    pub fn var(mut self, name: &str, value: &str) -> Self {
        self.vars.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Adds a file.
    pub fn file(self, path: &str, content: &str) -> Self {
        self.files
            .borrow_mut()
            .insert(PathBuf::from(path), content.as_bytes().to_vec());
        self
    }
}

impl Environment for FakeEnvironment {
    fn var(&self, name: &str) -> Result<Option<String>, NotUnicode> {
        Ok(self.vars.get(name).cloned())
    }

    fn names(&self, prefix: &str) -> Vec<String> {
        let names = self.vars.keys().filter(|name| name.starts_with(prefix));
        names.cloned().collect()
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        Ok(PathBuf::from("/project"))
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let path = Path::new("/project").join(path);
        self.read(&path)?;
        Ok(path.components().collect())
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let path: PathBuf = Path::new("/project").join(path).components().collect();
        match self.files.borrow().get(&path) {
            Some(bytes) if bytes == b"<unreadable>" => Err(io::ErrorKind::PermissionDenied.into()),
            Some(bytes) => Ok(bytes.clone()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.files.borrow_mut().insert(path.to_path_buf(), bytes.to_vec());
        Ok(())
    }
}
