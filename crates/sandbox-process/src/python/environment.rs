//! The managed environment on disk: where it lies, what it holds, and who still reads it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::interpreter::Interpreter;
use super::set::Set;

/// Raised whenever the meaning of the manifest changes; an environment of another format is made anew.
const FORMAT: u32 = 1;
pub(super) const MANIFEST: &str = "codeyard.json";

/// One installed distribution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// Its name as the index knows it.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A finished managed environment.
///
/// While a value lives, [`crate::python::sync`] keeps the files even when it puts a newer environment in their place.
#[derive(Debug, Clone)]
pub struct Environment {
    /// Its directory on the host.
    pub root: PathBuf,
    /// The directory that guests see at [`crate::python::GUEST_SITE_PACKAGES`].
    pub site_packages: PathBuf,
    /// What is installed.
    pub packages: Vec<Package>,
    /// Whether numpy is among it.
    pub has_numpy: bool,
    /// Whether pandas is among it.
    pub has_pandas: bool,
    /// The requirements that it was made of.
    pub set: Set,
    requirements: String,
    _in_use: Arc<File>,
}

impl Environment {
    /// Whether a distribution of this name is installed.
    pub fn has(&self, name: &str) -> bool {
        has(&self.packages, name)
    }

    /// Whether it was made from these requirements.
    pub(super) fn was_made_from(&self, requirements: &str) -> bool {
        self.requirements == fingerprint(requirements)
    }
}

/// Finds the finished environment of an interpreter in a data directory.
pub fn environment(data: &Path, interpreter: &Interpreter) -> Option<Environment> {
    let root = root_of(data, interpreter);
    let in_use = hold(&root.join(MANIFEST))?;
    let manifest: Manifest = serde_json::from_reader(&in_use).ok()?;
    let site_packages = interpreter.site_packages_below(&root);
    if manifest.format != FORMAT || manifest.interpreter != interpreter.key() || !site_packages.is_dir() {
        return None;
    }
    let set = match manifest.set {
        Some(set) => set,
        None => Set::of_marks(&requested(&site_packages).ok()?),
    };
    Some(Environment {
        set,
        has_numpy: has(&manifest.packages, "numpy"),
        has_pandas: has(&manifest.packages, "pandas"),
        root,
        site_packages,
        packages: manifest.packages,
        requirements: manifest.requirements,
        _in_use: Arc::new(in_use),
    })
}

/// Opens and locks a manifest, so that its environment stays; again if a sync swapped it in between.
fn hold(manifest: &Path) -> Option<File> {
    for _ in 0..3 {
        let file = File::open(manifest).ok()?;
        file.lock_shared().ok()?;
        let (held, named) = (file.metadata().ok()?, fs::metadata(manifest).ok()?);
        if (held.dev(), held.ino()) == (named.dev(), named.ino()) {
            return Some(file);
        }
    }
    None
}

/// What the metadata below a site-packages directory names, sorted by name.
pub(super) fn installed(site_packages: &Path) -> io::Result<Vec<Package>> {
    described_below(site_packages, |_| true)
}

/// Those of [`installed`] that pip was asked for, not those that they need.
pub(super) fn requested(site_packages: &Path) -> io::Result<Vec<Package>> {
    described_below(site_packages, |description| {
        description.join("REQUESTED").exists()
    })
}

fn described_below(site_packages: &Path, is_meant: fn(&Path) -> bool) -> io::Result<Vec<Package>> {
    let mut packages = Vec::new();
    for entry in fs::read_dir(site_packages)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "dist-info") && is_meant(&path) {
            let text = fs::read(path.join("METADATA"))?;
            packages.extend(described(&String::from_utf8_lossy(&text)));
        }
    }
    packages.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(packages)
}

/// Reads the two headers that every distribution has.
fn described(metadata: &str) -> Option<Package> {
    let header = |name: &str| {
        let line = metadata
            .lines()
            .take_while(|line| !line.is_empty())
            .find_map(|line| line.strip_prefix(name))?;
        Some(line.trim().to_owned())
    };
    Some(Package {
        name: header("Name:")?,
        version: header("Version:")?,
    })
}

/// The directory that holds all environments of a data directory, as a path that holds in every directory.
pub(super) fn all_in(data: &Path) -> PathBuf {
    let directory = data.join("python");
    std::path::absolute(&directory).unwrap_or(directory)
}

/// Where the environment of an interpreter lies once it is finished.
pub(super) fn root_of(data: &Path, interpreter: &Interpreter) -> PathBuf {
    all_in(data).join(interpreter.key())
}

/// What an environment was made of and holds; its presence says that the environment is finished.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    format: u32,
    interpreter: String,
    python: String,
    requirements: String,
    packages: Vec<Package>,
    /// Absent in environments of older codeyards.
    #[serde(default)]
    set: Option<Set>,
}

impl Manifest {
    /// Describes an environment that was just installed from the text of requirements.
    pub(super) fn new(
        interpreter: &Interpreter,
        requirements: &str,
        set: Set,
        packages: Vec<Package>,
    ) -> Manifest {
        Manifest {
            format: FORMAT,
            interpreter: interpreter.key(),
            python: interpreter.version_text(),
            requirements: fingerprint(requirements),
            packages,
            set: Some(set),
        }
    }

    /// Writes it below the environment's root.
    pub(super) fn write(&self, root: &Path) -> io::Result<()> {
        fs::write(root.join(MANIFEST), serde_json::to_vec_pretty(self)?)
    }
}

/// Removes an environment unless some process still reads it.
pub(super) fn remove_unless_in_use(root: &Path) -> io::Result<()> {
    match File::open(root.join(MANIFEST)) {
        // Held until the files are gone, so that nobody starts to use them now.
        Ok(manifest) => match manifest.try_lock() {
            Ok(()) => fs::remove_dir_all(root),
            Err(fs::TryLockError::WouldBlock) => Ok(()),
            Err(fs::TryLockError::Error(error)) => Err(error),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::remove_dir_all(root),
        Err(error) => Err(error),
    }
}

fn has(packages: &[Package], name: &str) -> bool {
    packages
        .iter()
        .any(|package| package.name.eq_ignore_ascii_case(name))
}

fn fingerprint(requirements: &str) -> String {
    Sha256::digest(requirements.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
