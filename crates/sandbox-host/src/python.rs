//! Finds the machine's CPython, and maintains the managed environment that guests import from.
//!
//! All functions block: they read files and wait for child processes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use crate::child;

mod bytecode;
mod cache;
mod change;
mod discover;
mod environment;
mod error;
mod interpreter;
mod probe;
mod requirement;
mod requirement_set;
mod scrub;
mod staged;
mod sync;

pub use bytecode::{PackageFile, bytecode};
pub use change::{Change, add, remove};
pub use discover::{Discovery, Settings, discover};
pub use environment::{Environment, GUEST_SITE_PACKAGES, Package, environment};
pub use error::SyncError;
pub use interpreter::{Interpreter, SkipReason, Skipped};
pub use requirement::{Requirement, RequirementError};
pub use requirement_set::RequirementSet;
pub use staged::{StagedEnvironment, Target};
pub use sync::{Refresh, SyncRequest, Synced, sync};

/// What `codeyard python info` shows.
#[derive(Debug, Serialize)]
pub struct Info {
    /// The Python of guests, if one was found.
    pub interpreter: Option<Interpreter>,
    /// Skipped candidates, each with its reason.
    pub skipped: Vec<Skipped>,
    /// The managed environment, if it was made.
    pub environment: Option<EnvironmentInfo>,
}

/// The managed environment as `codeyard python info` shows it.
#[derive(Debug, Serialize)]
pub struct EnvironmentInfo {
    /// The directory on the host.
    pub root: PathBuf,
    /// Installed packages.
    pub packages: Vec<Package>,
    /// The requirements that it was made from.
    pub requirements: RequirementSet,
}

/// Compiles the modules below a directory before their first import. A failure only slows that import.
pub fn compile(interpreter: &Interpreter, directory: &Path) {
    const TIMEOUT: Duration = Duration::from_secs(60);
    let Some(directory) = directory.to_str() else {
        return;
    };
    let args = ["-I", "-S", "-m", "compileall", "-q", directory];
    if let Err(error) = child::ask(&interpreter.executable, &args, TIMEOUT) {
        tracing::debug!(?error, "not compiled ahead");
    }
}

/// Searches without the cache, and reads the manifest of the managed environment.
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
