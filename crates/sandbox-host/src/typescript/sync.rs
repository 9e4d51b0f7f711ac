//! Installs Deno from its npm package, and the packages of a lock file.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::error::SyncError;
use super::find::{self, Found};
use super::npm::Npm;
use super::{DIRECTORY, Engine, Settings};

/// The package with Deno's executable, and its tested version.
const DENO_PACKAGE: &str = if cfg!(target_arch = "aarch64") {
    "@deno/linux-arm64-glibc"
} else {
    "@deno/linux-x64-glibc"
};
const DENO_VERSION: &str = "2.9.6";

/// Required files of a directory of packages.
const PACKAGE_FILES: [&str; 2] = ["package.json", "package-lock.json"];

/// Arguments of a sync.
#[derive(Debug)]
pub struct SyncRequest {
    /// The engine and the packages.
    pub settings: Settings,
    /// The data directory.
    pub data: PathBuf,
    /// An argv prefix that ends npm when codeyard dies; may be empty.
    pub supervisor: Vec<OsString>,
}

/// The result of a sync.
#[derive(Debug, PartialEq, Eq)]
pub enum Synced {
    /// The engine is part of this program, and needs no installation.
    Nothing,
    /// An engine and its packages.
    Engine(Found),
}

/// Installs the missing parts. Each part replaces its predecessor only when complete.
///
/// # Errors
/// If a part is missing, or npm fails.
pub fn sync(request: &SyncRequest, progress: &mut dyn FnMut(&str)) -> Result<Synced, SyncError> {
    let SyncRequest {
        settings,
        data,
        supervisor,
    } = request;
    if settings.engine == Engine::QuickJs {
        return Ok(Synced::Nothing);
    }
    let program = find::on_path(settings, "npm");
    let npm = || {
        program
            .as_deref()
            .map(|program| Npm { program, supervisor })
            .ok_or(SyncError::NoNpm)
    };
    let root = data.join(DIRECTORY);
    fs::create_dir_all(&root).map_err(SyncError::writing(&root))?;
    // Two syncs would use the same directories. The lock ends with this function.
    let lock = File::create(root.join(".lock")).map_err(SyncError::writing(&root))?;
    lock.lock().map_err(SyncError::writing(&root))?;
    if settings.engine == Engine::Deno && !has_deno(data) {
        progress(&format!("installing Deno {DENO_VERSION} from its npm package"));
        install_deno(&npm()?, &root, progress)?;
    }
    if let Some(directory) = &settings.packages {
        let place = find::packages_in(data);
        if !is_same(directory, &place)? {
            progress(&format!("installing the packages of {}", directory.display()));
            install_packages(&npm()?, directory, &root, &place, progress)?;
        }
    }
    Ok(match find::find(settings, data)? {
        Some(found) => Synced::Engine(found),
        None => Synced::Nothing,
    })
}

/// Whether the tested version is installed.
fn has_deno(data: &Path) -> bool {
    let version = data.join(DIRECTORY).join("deno").join("version");
    fs::read_to_string(version).is_ok_and(|version| version == DENO_VERSION)
        && find::managed_deno(data).is_some()
}

fn install_deno(npm: &Npm<'_>, root: &Path, progress: &mut dyn FnMut(&str)) -> Result<(), SyncError> {
    let staged = staged(root, "deno")?;
    let package = format!("{DENO_PACKAGE}@{DENO_VERSION}");
    let args = ["install", "--prefix", ".", "--no-save", "--force", &package];
    npm.run(&staged, &args, "Deno", progress)?;
    let made = root.join(".deno-new");
    let write = SyncError::writing(&made);
    let assembled = fs::create_dir_all(&made)
        .and_then(|()| {
            let executable = staged.join("node_modules").join(DENO_PACKAGE).join("deno");
            fs::rename(executable, made.join("deno"))
        })
        .and_then(|()| fs::write(made.join("version"), DENO_VERSION));
    assembled.map_err(write)?;
    replace(&made, &root.join("deno"))?;
    remove(&staged)
}

/// Whether the installed packages match the directory's lock file.
fn is_same(directory: &Path, place: &Path) -> Result<bool, SyncError> {
    for name in PACKAGE_FILES {
        let path = directory.join(name);
        let wanted = fs::read(&path).map_err(|_| SyncError::NoLockFile { path })?;
        if fs::read(place.join(name)).ok() != Some(wanted) {
            return Ok(false);
        }
    }
    Ok(place.join("node_modules").is_dir())
}

fn install_packages(
    npm: &Npm<'_>,
    directory: &Path,
    root: &Path,
    place: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<(), SyncError> {
    let staged = staged(root, "packages")?;
    for entry in fs::read_dir(directory)
        .map_err(SyncError::writing(directory))?
        .flatten()
    {
        let copy = staged.join(entry.file_name());
        if is_read_by_npm(&entry.path()) {
            fs::copy(entry.path(), &copy).map_err(SyncError::writing(&copy))?;
        }
    }
    npm.run(&staged, &["ci", "--omit=dev"], "the packages", progress)?;
    // npm makes none if the lock file lists no package.
    let modules = staged.join("node_modules");
    fs::create_dir_all(&modules).map_err(SyncError::writing(&modules))?;
    replace(&staged, place)
}

/// Whether npm needs this file of the directory: the lists, npm's settings, or an archive named there.
fn is_read_by_npm(path: &Path) -> bool {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    PACKAGE_FILES.contains(&name) || name == ".npmrc" || name.ends_with(".tgz")
}

/// An empty directory for an installation under construction.
fn staged(root: &Path, name: &str) -> Result<PathBuf, SyncError> {
    let staged = root.join(format!(".{name}-staged"));
    remove(&staged)?;
    fs::create_dir_all(&staged).map_err(SyncError::writing(&staged))?;
    Ok(staged)
}

/// Replaces a directory. Sessions that use the old one keep it.
fn replace(made: &Path, place: &Path) -> Result<(), SyncError> {
    let old = place.with_extension("old");
    remove(&old)?;
    if place.exists() {
        fs::rename(place, &old).map_err(SyncError::writing(place))?;
    }
    fs::rename(made, place).map_err(SyncError::writing(place))?;
    remove(&old)
}

fn remove(directory: &Path) -> Result<(), SyncError> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(SyncError::writing(directory)(error))
        }
        _ => Ok(()),
    }
}
