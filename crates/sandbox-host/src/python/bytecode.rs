//! Keeps the bytecode of the guest's Python package, so that a zygote need not compile the package at each start.
//!
//! A directory of the data directory holds the bytecode for one Python and one version of the package. It contains
//! the package's sources too, because `compileall` reads them there. A change of either needs a new directory.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use super::interpreter::Interpreter;
use crate::child;

/// Where sessions have the guest's files.
const GUEST: &str = "/opt/codeyard";
/// Directory for bytecode below the data directory.
const DIRECTORY: &str = "python/bytecode";
/// Most directories: for some Pythons, and for the versions of Codeyard that share a data directory.
const CAPACITY: usize = 8;
const TIMEOUT: Duration = Duration::from_secs(60);

/// A file of the package: its path below the guest's directory, and its text.
pub type PackageFile = (&'static str, &'static [u8]);

/// The compiled files of these sources, each with its path inside sessions: compiled now, unless an earlier start did.
/// Without them, a zygote only starts more slowly, so a failure is not an error.
pub fn bytecode(data: &Path, interpreter: &Interpreter, sources: &[PackageFile]) -> Vec<(PathBuf, PathBuf)> {
    let bytecode = Bytecode::new(data, interpreter, sources);
    if !bytecode.directory.exists()
        && let Err(error) = bytecode.compile()
    {
        tracing::debug!(%error, "the guest's bytecode could not be kept");
    }
    bytecode.files()
}

/// The bytecode for one Python.
struct Bytecode<'a> {
    interpreter: &'a Interpreter,
    /// The directory, which may be missing.
    directory: PathBuf,
    sources: &'a [PackageFile],
}

impl<'a> Bytecode<'a> {
    fn new(data: &Path, interpreter: &'a Interpreter, sources: &'a [PackageFile]) -> Self {
        let mut digest = Sha256::new();
        digest.update(interpreter.executable.as_os_str().as_encoded_bytes());
        digest.update(interpreter.version_text());
        for (path, text) in sources {
            digest.update(path);
            digest.update(text.len().to_le_bytes());
            digest.update(text);
        }
        let mark = digest.finalize();
        let mark: String = mark.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Bytecode {
            interpreter,
            directory: data.join(DIRECTORY).join(mark),
            sources,
        }
    }

    fn files(&self) -> Vec<(PathBuf, PathBuf)> {
        let caches: BTreeSet<PathBuf> = self.sources.iter().filter_map(cache_beside).collect();
        let mut files = Vec::new();
        for cache in caches {
            let entries = fs::read_dir(self.directory.join(&cache)).into_iter().flatten();
            let names = entries.flatten().map(|entry| entry.file_name());
            files.extend(names.map(|name| {
                let below = cache.join(name);
                (self.directory.join(&below), Path::new(GUEST).join(below))
            }));
        }
        files
    }

    /// Compiles in a new directory, which then gets its name: another process never sees a part.
    fn compile(&self) -> io::Result<()> {
        let Some(parent) = self.directory.parent() else {
            return Ok(());
        };
        DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        remove_oldest(parent);
        let unfinished = tempfile::Builder::new().prefix(".new-").tempdir_in(parent)?;
        self.write_sources(unfinished.path())?;
        self.run_compiler(unfinished.path())?;
        fs::rename(unfinished.keep(), &self.directory)
    }

    fn write_sources(&self, directory: &Path) -> io::Result<()> {
        for (path, text) in self.sources {
            let path = directory.join(path);
            path.parent().map(fs::create_dir_all).transpose()?;
            fs::write(path, text)?;
        }
        Ok(())
    }

    /// The compiled files name the guest's path, not the host's. They have no date of a source, because sessions have
    /// the sources with other dates.
    fn run_compiler(&self, directory: &Path) -> io::Result<()> {
        let Some(directory) = directory.to_str() else {
            return Err(io::Error::other("the data directory's path is not UTF-8"));
        };
        let arguments = [
            "-I",
            "-S",
            "-m",
            "compileall",
            "-q",
            "--invalidation-mode",
            "unchecked-hash",
            "-s",
            directory,
            "-p",
            GUEST,
            directory,
        ];
        let output = child::ask(&self.interpreter.executable, &arguments, TIMEOUT);
        let output = output.map_err(|error| io::Error::other(format!("{error:?}")))?;
        match output.is_success() {
            true => Ok(()),
            false => Err(io::Error::other(output.output_tail())),
        }
    }
}

/// The directory in which Python looks for the bytecode of a file, relative to the guest's directory.
fn cache_beside((path, _): &PackageFile) -> Option<PathBuf> {
    Some(Path::new(path).parent()?.join("__pycache__"))
}

/// Leaves room for one more directory, and removes what ended processes left unfinished.
fn remove_oldest(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let mut directories: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    directories.sort();
    let surplus = (directories.len() + 1).saturating_sub(CAPACITY);
    for (_, directory) in directories.into_iter().take(surplus) {
        let _ = fs::remove_dir_all(directory);
    }
}

#[cfg(test)]
mod tests;
