//! Errors of the managed environment, each with its remedy.

use std::io;
use std::path::{Path, PathBuf};

use crate::python::interpreter::Skipped;

/// Why a sync or change failed. The environment is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// No candidate can be used.
    #[error(
        "no usable Python 3.10 or newer was found (on Debian: apt-get install python3 python3-venv){}",
        listed(skipped)
    )]
    NoPython {
        /// Each with its reason.
        skipped: Vec<Skipped>,
    },
    /// Debian packages `venv` and `ensurepip` separately.
    #[error(
        "{} has no venv module or carries no pip for it (ensurepip); on Debian: apt-get install python3-venv, then run `codeyard python sync` again",
        executable.display()
    )]
    NoVenv {
        /// The Python that lacks the module.
        executable: PathBuf,
    },
    /// The user's requirements file cannot be read.
    #[error("cannot read the requirements file {}", path.display())]
    Requirements {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The data directory cannot be written.
    #[error("cannot write {}; check its owner and mode, or name another data directory with --data", path.display())]
    NotWritable {
        /// The target.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// No space or no inodes.
    #[error(
        "the disk of {} is full; the environment needs about 500 MB there (and pip some for its cache in the home directory)",
        path.display()
    )]
    DiskFull {
        /// The target.
        path: PathBuf,
    },
    /// The package index cannot be reached.
    #[error(
        "pip cannot reach its package index; check the network, the proxy (HTTPS_PROXY) and pip's own index setting, then try again; what was there before is unchanged\n{tail}"
    )]
    Offline {
        /// The end of pip's output.
        tail: String,
    },
    /// The index does not know the name or the version.
    #[error(
        "the package index has no version of `{requirement}` for this Python; check the name{}",
        others(versions)
    )]
    NotFound {
        /// As pip read it.
        requirement: String,
        /// The newest versions in the index.
        versions: Vec<String>,
    },
    /// The version requirements of two packages conflict.
    #[error(
        "the packages need versions that exclude each other; change or leave out one of them; what was there before is unchanged\n{tail}"
    )]
    Conflict {
        /// The end of pip's output.
        tail: String,
    },
    /// There is no environment to remove from.
    #[error("no environment was made; `codeyard python add NAME` or `codeyard python sync` makes one")]
    NoEnvironment,
    /// A name that is not in the environment.
    #[error("`{name}` is not installed")]
    NotInstalled {
        /// As the caller wrote it.
        name: String,
        /// Installed packages.
        installed: Vec<String>,
    },
    /// Other packages depend on this one.
    #[error(
        "`{name}` is needed by {by}; remove it together with what needs it: `codeyard python remove {name} {others}`",
        by = by.join(", "),
        others = by.join(" ")
    )]
    Needed {
        /// The package to remove.
        name: String,
        /// The packages that need it.
        by: Vec<String>,
    },
    /// The metadata of the packages cannot be read.
    #[error("cannot tell which packages need each other: {cause}")]
    Unreadable {
        /// The reason.
        cause: String,
    },
    /// A step failed.
    #[error("{step} failed; what was there before is unchanged\n{tail}")]
    Step {
        /// The step's name.
        step: &'static str,
        /// The end of its output.
        tail: String,
    },
    /// A step could not be started.
    #[error("cannot run {}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The environment was removed while it was put in place.
    #[error("the finished environment {} cannot be read back", path.display())]
    Vanished {
        /// The expected path.
        path: PathBuf,
    },
}

const OFFLINE: [&str; 6] = [
    "NewConnectionError",
    "NameResolutionError",
    "Failed to establish a new connection",
    "ConnectTimeoutError",
    "ProxyError",
    "Max retries exceeded",
];

/// pip's messages when no choice of versions satisfies all requirements.
const CONFLICT: [&str; 2] = ["ResolutionImpossible", "conflicting dependencies"];

/// The start of pip's line about an installed package.
pub(super) const SATISFIED: &str = "Requirement already satisfied";

impl SyncError {
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

    pub(super) fn of_step(step: &'static str, directory: &Path, tail: &[String]) -> SyncError {
        let says = |needle: &str| tail.iter().any(|line| line.contains(needle));
        if says("No space left on device") || says("Disk quota exceeded") {
            return SyncError::DiskFull {
                path: directory.to_owned(),
            };
        }
        let telling = tail.iter().filter(|line| !line.starts_with(SATISFIED));
        let tail_text = telling.map(String::as_str).collect::<Vec<_>>().join("\n");
        if OFFLINE.iter().any(|needle| says(needle)) {
            return SyncError::Offline { tail: tail_text };
        }
        if let Some(found) = tail.iter().find_map(|line| not_found(line)) {
            return found;
        }
        if CONFLICT.iter().any(|needle| says(needle)) {
            return SyncError::Conflict {
                tail: reasons(tail).join("\n"),
            };
        }
        SyncError::Step {
            step,
            tail: tail_text,
        }
    }
}

/// Parses pip's line about a name or version missing from the index.
fn not_found(line: &str) -> Option<SyncError> {
    const NEWEST: usize = 8;
    let (_, rest) = line.split_once("Could not find a version that satisfies the requirement ")?;
    let requirement = rest.split(" (from").next().unwrap_or(rest);
    let versions = rest
        .rsplit_once("(from versions: ")
        .map_or("none", |(_, versions)| versions);
    let mut versions: Vec<String> = versions
        .trim_end_matches(')')
        .split(", ")
        .filter(|version| *version != "none")
        .map(str::to_owned)
        .collect();
    let surplus = versions.len().saturating_sub(NEWEST);
    versions.drain(..surplus);
    Some(SyncError::NotFound {
        requirement: requirement.to_owned(),
        versions,
    })
}

/// The first of pip's reasons why requirements exclude each other. Further lines repeat them for older versions.
fn reasons(tail: &[String]) -> &[String] {
    const MAX_LINES: usize = 4;
    let first = tail
        .iter()
        .position(|line| line.starts_with("The conflict is caused by"))
        .map_or(0, |title| title + 1);
    let reasons = tail.get(first..).unwrap_or_default();
    let end = reasons
        .iter()
        .position(|line| line.starts_with("To fix this"))
        .unwrap_or(reasons.len());
    reasons.get(..end.min(MAX_LINES)).unwrap_or_default()
}

fn others(versions: &[String]) -> String {
    match versions {
        [] => "; what was there before is unchanged".to_owned(),
        versions => format!(
            " and version (the newest are {}); what was there before is unchanged",
            versions.join(", ")
        ),
    }
}

fn listed(skipped: &[Skipped]) -> String {
    skipped.iter().map(|skipped| format!("\n  {skipped}")).collect()
}
