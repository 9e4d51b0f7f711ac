//! Finds the machine's own CPython and keeps the managed environment that guests import from.
//!
//! Everything here blocks: it reads files and waits for child processes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

mod cache;
mod change;
mod child;
mod discover;
mod draft;
mod environment;
mod error;
mod interpreter;
mod probe;
mod requirement;
mod scrub;
mod set;
mod sync;

pub use change::{Change, add, remove};
pub use discover::{Discovery, discover};
pub use draft::{Draft, Target};
pub use environment::{Environment, Package, environment};
pub use error::SyncError;
pub use interpreter::{Interpreter, SkipReason, Skipped};
pub use requirement::{Requirement, RequirementError};
pub use set::Set;
pub use sync::{Refresh, SyncRequest, Synced, sync};

/// Where guests see the managed environment; compiled modules are stamped with this path, not with the host's.
pub const GUEST_SITE_PACKAGES: &str = "/opt/codeyard/site-packages";

/// What [`sync`] installs unless a requirements file is given, in pip's format.
pub const DEFAULT_REQUIREMENTS: &str = include_str!("python/requirements.txt");

/// Where to look for Python.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// `[python] path`: this one or none.
    pub path: Option<PathBuf>,
    /// The value of `PATH`; searched when no path is set.
    pub search_path: Option<OsString>,
}

/// What `codeyard python info` shows.
#[derive(Debug, Serialize)]
pub struct Info {
    /// The Python that guests run, if one was found.
    pub interpreter: Option<Interpreter>,
    /// Candidates that were passed over, each with its reason.
    pub skipped: Vec<Skipped>,
    /// The managed environment, if it was made.
    pub environment: Option<EnvironmentInfo>,
}

/// The managed environment as `codeyard python info` shows it.
#[derive(Debug, Serialize)]
pub struct EnvironmentInfo {
    /// Its directory on the host.
    pub root: PathBuf,
    /// What is installed.
    pub packages: Vec<Package>,
    /// The requirements that it was made of.
    pub requirements: Set,
}

/// Compiles the modules below a directory ahead of their first import; what cannot be compiled is compiled then.
pub fn compile(interpreter: &Interpreter, directory: &Path) {
    const PATIENCE: Duration = Duration::from_secs(60);
    let Some(directory) = directory.to_str() else {
        return;
    };
    let args = ["-I", "-S", "-m", "compileall", "-q", directory];
    if let Err(error) = child::ask(&interpreter.executable, &args, PATIENCE) {
        tracing::debug!(?error, "not compiled ahead");
    }
}

/// Looks again, without the cache, and reads the managed environment's manifest.
pub fn info(settings: &Settings, data: &Path) -> Info {
    let Discovery { interpreter, skipped } = discover::discover_afresh(settings, data);
    let environment = interpreter
        .as_ref()
        .and_then(|interpreter| environment(data, interpreter))
        .map(|environment| EnvironmentInfo {
            root: environment.root.clone(),
            packages: environment.packages.clone(),
            requirements: environment.set.clone(),
        });
    Info {
        interpreter,
        skipped,
        environment,
    }
}
