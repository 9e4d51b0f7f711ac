//! The managed environment on disk: its directory, its manifest, and the lock of its readers.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::interpreter::Interpreter;
use super::requirement_set::RequirementSet;

/// Increased when the meaning of the manifest changes. An environment of another format is remade.
const FORMAT: u32 = 1;
/// The path of the managed environment for guests. Compiled modules contain this path, not the path on the host.
pub const GUEST_SITE_PACKAGES: &str = "/opt/codeyard/site-packages";
pub(super) const MANIFEST: &str = "codeyard.json";

/// An installed distribution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// The name in the index.
    pub name: String,
    /// As the distribution's metadata has it.
    pub version: String,
}

/// A complete managed environment.
///
/// While a value exists, [`crate::python::sync`] keeps the files, even after a newer environment has replaced them.
#[derive(Debug, Clone)]
pub struct Environment {
    /// The directory on the host.
    pub root: PathBuf,
    /// The directory that guests see at [`crate::python::GUEST_SITE_PACKAGES`].
    pub site_packages: PathBuf,
    /// Installed packages.
    pub packages: Vec<Package>,
    /// The requirements from which the environment was made.
    pub set: RequirementSet,
    requirements: String,
    _in_use: Arc<File>,
}

impl Environment {
    /// Whether a distribution of this name is installed.
    pub fn has(&self, name: &str) -> bool {
        self.packages
            .iter()
            .any(|package| package.name.eq_ignore_ascii_case(name))
    }

    /// Whether numpy and pandas are installed.
    pub fn has_data_packages(&self) -> bool {
        self.has("numpy") && self.has("pandas")
    }

    pub(super) fn was_made_from(&self, requirements: &str) -> bool {
        self.requirements == fingerprint(requirements)
    }
}

/// Finds the complete environment of an interpreter in a data directory.
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
        None => RequirementSet::of_marks(&requested(&site_packages).ok()?),
    };
    Some(Environment {
        set,
        root,
        site_packages,
        packages: manifest.packages,
        requirements: manifest.requirements,
        _in_use: Arc::new(in_use),
    })
}

/// Opens and locks a manifest, which protects its environment from removal. Tries again if a sync replaced the
/// manifest meanwhile.
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

/// The packages described by the metadata in a site-packages directory, sorted by name.
pub(super) fn installed(site_packages: &Path) -> io::Result<Vec<Package>> {
    described_below(site_packages, |_| true)
}

/// The packages of [`installed`] that were requested from pip, without dependencies.
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

/// The absolute path of the directory of all environments.
pub(super) fn all_in(data: &Path) -> PathBuf {
    let directory = data.join("python");
    std::path::absolute(&directory).unwrap_or(directory)
}

pub(super) fn root_of(data: &Path, interpreter: &Interpreter) -> PathBuf {
    all_in(data).join(interpreter.key())
}

/// The requirements and packages of an environment. An environment with a manifest is complete.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    format: u32,
    interpreter: String,
    python: String,
    requirements: String,
    packages: Vec<Package>,
    /// Environments of older codeyard versions lack this field.
    #[serde(default)]
    set: Option<RequirementSet>,
}

impl Manifest {
    pub(super) fn new(
        interpreter: &Interpreter,
        requirements: &str,
        set: RequirementSet,
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

    pub(super) fn write(&self, root: &Path) -> io::Result<()> {
        fs::write(root.join(MANIFEST), serde_json::to_vec_pretty(self)?)
    }
}

/// Removes an environment unless a process still reads it.
pub(super) fn remove_unless_in_use(root: &Path) -> io::Result<()> {
    match File::open(root.join(MANIFEST)) {
        // Hold the lock until the files are removed, so that no process starts to use them.
        Ok(manifest) => match manifest.try_lock() {
            Ok(()) => fs::remove_dir_all(root),
            Err(fs::TryLockError::WouldBlock) => Ok(()),
            Err(fs::TryLockError::Error(error)) => Err(error),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::remove_dir_all(root),
        Err(error) => Err(error),
    }
}

fn fingerprint(requirements: &str) -> String {
    Sha256::digest(requirements.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
