//! Why there is no managed environment, each with what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use crate::python::interpreter::Skipped;

/// A sync that changed nothing.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// No candidate can be used.
    #[error(
        "no usable Python 3.10 or newer was found (on Debian: apt-get install python3 python3-venv){}",
        listed(skipped)
    )]
    NoPython {
        /// The candidates, each with its reason.
        skipped: Vec<Skipped>,
    },
    /// Debian ships `venv` and `ensurepip` apart.
    #[error(
        "{} has no venv module or carries no pip for it (ensurepip); on Debian: apt-get install python3-venv, then run `codeyard python sync` again",
        executable.display()
    )]
    NoVenv {
        /// The Python that lacks it.
        executable: PathBuf,
    },
    /// The user's requirements file.
    #[error("cannot read the requirements file {}", path.display())]
    Requirements {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The data directory.
    #[error("cannot write {}; check its owner and mode, or name another data directory with --data", path.display())]
    NotWritable {
        /// What was to be written.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No space or no inodes.
    #[error(
        "the disk of {} is full; the environment needs about 500 MB there (and pip some for its cache in the home directory)",
        path.display()
    )]
    DiskFull {
        /// What was being written.
        path: PathBuf,
    },
    /// The package index cannot be reached.
    #[error(
        "pip cannot reach its package index; check the network, the proxy (HTTPS_PROXY) and pip's own index setting, then run `codeyard python sync` again\n{tail}"
    )]
    Offline {
        /// The end of pip's output.
        tail: String,
    },
    /// A step said no.
    #[error("{step} failed; what was there before is unchanged\n{tail}")]
    Step {
        /// Which.
        step: &'static str,
        /// The end of its output.
        tail: String,
    },
    /// A step could not even be started.
    #[error("cannot run {}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Somebody removed the environment while it was put in place.
    #[error("the finished environment {} cannot be read back", path.display())]
    Vanished {
        /// Where it should be.
        path: PathBuf,
    },
}

/// What pip and its libraries print when there is no way to the index.
const OFFLINE: [&str; 6] = [
    "NewConnectionError",
    "NameResolutionError",
    "Failed to establish a new connection",
    "ConnectTimeoutError",
    "ProxyError",
    "Max retries exceeded",
];

impl SyncError {
    /// Sorts out a failed write below the data directory.
    pub(super) fn writing(path: &Path, source: io::Error) -> SyncError {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => SyncError::DiskFull {
                path: path.to_owned(),
            },
            _ => SyncError::NotWritable {
                path: path.to_owned(),
                source,
            },
        }
    }

    /// Sorts out a failed step by what it printed.
    pub(super) fn of_step(step: &'static str, directory: &Path, tail: &[String]) -> SyncError {
        let says = |needle: &str| tail.iter().any(|line| line.contains(needle));
        if says("No space left on device") || says("Disk quota exceeded") {
            return SyncError::DiskFull {
                path: directory.to_owned(),
            };
        }
        let tail_text = tail.join("\n");
        if OFFLINE.iter().any(|needle| says(needle)) {
            return SyncError::Offline { tail: tail_text };
        }
        SyncError::Step {
            step,
            tail: tail_text,
        }
    }
}

fn listed(skipped: &[Skipped]) -> String {
    skipped.iter().map(|skipped| format!("\n  {skipped}")).collect()
}
