//! Errors of the engines and their packages, each with its remedy.

use std::io;
use std::path::{Path, PathBuf};

/// Why an engine cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// No Node.js on `PATH`.
    #[error(
        "`[typescript] engine = \"node\"`: no Node.js is on PATH; install it (on Debian: apt-get install nodejs), or \
         take another engine"
    )]
    NoNode,
    /// No Deno in the data directory or on `PATH`.
    #[error("`[typescript] engine = \"deno\"`: Deno is not installed; run `codeyard typescript sync`")]
    NoDeno,
    /// A version that is too old.
    #[error(
        "`[typescript] engine = \"{engine}\"`: {} is version {version}, and {oldest} is the oldest that works; install a \
         newer one{}",
        path.display(),
        if *engine == "deno" { " with `codeyard typescript sync`" } else { "" }
    )]
    Old {
        /// In the settings.
        engine: &'static str,
        /// The executable.
        path: PathBuf,
        /// As found.
        version: String,
        /// The oldest major version that works.
        oldest: u32,
    },
    /// The engine does not start, or does not report a version.
    #[error("`[typescript] engine = \"{engine}\"`: {} does not run: {reason}", path.display())]
    Broken {
        /// In the settings.
        engine: &'static str,
        /// The executable.
        path: PathBuf,
        /// The output, or the system's error.
        reason: String,
    },
    /// The configured packages are not installed.
    #[error(
        "`[typescript] packages`: the packages of {} are not installed; run `codeyard typescript sync`",
        directory.display()
    )]
    NoPackages {
        /// From the settings.
        directory: PathBuf,
    },
    /// No mechanism limits the engine's memory.
    #[error(
        "`[typescript] engine = \"{engine}\"` needs control groups, because nothing else limits its memory, and there are \
         none here: {reason}; use `engine = \"quickjs\"`"
    )]
    Unlimited {
        /// In the settings.
        engine: &'static str,
        /// Why there are no control groups.
        reason: String,
    },
}

/// Why a sync failed. The installation is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// npm is not installed.
    #[error(
        "npm is not on PATH, and it installs Deno and packages; install it (on Debian: apt-get install npm)"
    )]
    NoNpm,
    /// The packages' directory lacks one of its two files.
    #[error(
        "`[typescript] packages`: {} is missing; packages are installed from a lock file: write `package.json` there and \
         run `npm install --package-lock-only`",
        path.display()
    )]
    NoLockFile {
        /// The missing file.
        path: PathBuf,
    },
    /// npm failed.
    #[error("npm could not install {what}:\n{tail}")]
    Npm {
        /// The packages or Deno.
        what: String,
        /// The end of npm's output.
        tail: String,
    },
    /// The installed engine does not run.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The data directory cannot be written.
    #[error("cannot write {}; check its owner and mode, or name another data directory with --data", path.display())]
    NotWritable {
        /// The target.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl SyncError {
    pub(super) fn writing(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::NotWritable { path, source }
    }
}
