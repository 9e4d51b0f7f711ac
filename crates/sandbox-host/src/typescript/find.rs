//! Finds the engine and its packages.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use super::{DIRECTORY, Engine, EngineError, Settings};
use crate::child::{self, AskError};

/// Time limit for an engine to report its version.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The oldest versions that work.
const OLDEST_NODE: u32 = 20;
const OLDEST_DENO: u32 = 2;

/// A separate engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// Node or Deno.
    pub engine: Engine,
    /// The executable, links resolved.
    pub executable: PathBuf,
    /// Its version, such as `20.20.2`.
    pub version: String,
    /// The directory `node_modules` of importable packages.
    pub packages: Option<PathBuf>,
}

/// A package that programs can import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Package {
    /// The import name.
    pub name: String,
    /// From its `package.json`.
    pub version: String,
}

/// The configured engine; `None` for QuickJS.
///
/// # Errors
/// If the engine is missing, too old or broken, or its packages are not installed.
pub fn find(settings: &Settings, data: &Path) -> Result<Option<Found>, EngineError> {
    let (program, args, oldest) = match settings.engine {
        Engine::QuickJs => return Ok(None),
        Engine::Node => (
            on_path(settings, "node").ok_or(EngineError::NoNode)?,
            ["-p", "JSON.stringify([process.execPath, process.versions.node])"],
            OLDEST_NODE,
        ),
        Engine::Deno => (
            managed_deno(data)
                .or_else(|| on_path(settings, "deno"))
                .ok_or(EngineError::NoDeno)?,
            [
                "eval",
                "console.log(JSON.stringify([Deno.execPath(), Deno.version.deno]))",
            ],
            OLDEST_DENO,
        ),
    };
    let mut found = ask(settings.engine, &program, &args, oldest)?;
    if let Some(directory) = &settings.packages {
        found.packages = Some(installed(directory, data)?);
    }
    Ok(Some(found))
}

/// The installed packages of the settings' directory.
pub fn packages(found: &Found) -> Vec<Package> {
    let mut packages = Vec::new();
    for directory in found.packages.iter().flat_map(|root| directories(root)) {
        let is_scope = directory
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"@"));
        if is_scope {
            packages.extend(directories(&directory).iter().filter_map(|below| package(below)));
        } else {
            packages.extend(package(&directory));
        }
    }
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    packages
}

/// Subdirectories of a directory; none if it is unreadable.
fn directories(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect()
}

fn package(directory: &Path) -> Option<Package> {
    let text = fs::read_to_string(directory.join("package.json")).ok()?;
    let described: Value = serde_json::from_str(&text).ok()?;
    Some(Package {
        name: described["name"].as_str()?.to_owned(),
        version: described["version"].as_str().unwrap_or_default().to_owned(),
    })
}

/// The Deno that a sync installed.
pub(super) fn managed_deno(data: &Path) -> Option<PathBuf> {
    Some(data.join(DIRECTORY).join("deno").join("deno")).filter(|path| path.is_file())
}

/// Directory of the installed packages.
pub(super) fn packages_in(data: &Path) -> PathBuf {
    data.join(DIRECTORY).join("packages")
}

fn installed(directory: &Path, data: &Path) -> Result<PathBuf, EngineError> {
    let lock_file = |directory: &Path| fs::read(directory.join("package-lock.json")).ok();
    let place = packages_in(data);
    let wanted = lock_file(directory);
    match place.join("node_modules") {
        modules if wanted.is_some() && lock_file(&place) == wanted && modules.is_dir() => Ok(modules),
        _ => Err(EngineError::NoPackages {
            directory: directory.to_owned(),
        }),
    }
}

/// The first program of this name on the search path. Skips relative directories, which would let codeyard's working
/// directory choose the program.
pub(super) fn on_path(settings: &Settings, name: &str) -> Option<PathBuf> {
    let search_path = settings.search_path.as_deref().unwrap_or(OsStr::new(""));
    std::env::split_paths(search_path)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(|path| path.is_file())
}

/// Runs an engine to read its version.
pub(super) fn ask(engine: Engine, program: &Path, args: &[&str], oldest: u32) -> Result<Found, EngineError> {
    let broken = |reason: String| EngineError::Broken {
        engine: engine.name(),
        path: program.to_owned(),
        reason,
    };
    let answer = child::ask(program, args, TIMEOUT).map_err(|error| match error {
        AskError::NotStarted(error) => broken(error.to_string()),
        AskError::TimedOut => broken(format!("it gave no answer within {} s", TIMEOUT.as_secs())),
    })?;
    let (executable, version): (PathBuf, String) =
        serde_json::from_slice(&answer.stdout).map_err(|_| broken(answer.output_tail()))?;
    let major = version.split('.').next().and_then(|major| major.parse().ok());
    if major.is_none_or(|major: u32| major < oldest) {
        return Err(EngineError::Old {
            engine: engine.name(),
            path: program.to_owned(),
            version,
            oldest,
        });
    }
    Ok(Found {
        engine,
        executable: executable.canonicalize().unwrap_or(executable),
        version,
        packages: None,
    })
}
