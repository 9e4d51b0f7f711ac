//! Review of a project file: a person reads the servers before trusting the file.

use std::io;
use std::path::{Path, PathBuf};

use environment::{ChangeLock, Environment, Mistakes, StateError, Warning, why_unreadable};
use upstream::ServerConfig;

use crate::entries::{self, Expansion};

/// Name of the project file, which other clients also read.
pub const PROJECT_FILE: &str = ".mcp.json";

/// A project file under review.
#[derive(Debug, Clone)]
pub struct Review {
    /// Path with links resolved.
    pub file: PathBuf,
    /// Servers with unexpanded variables.
    pub servers: Vec<ServerConfig>,
    /// Warnings about ignored content.
    pub warnings: Vec<Warning>,
    /// Hash of the reviewed content.
    digest: String,
}

/// Why a file cannot be reviewed.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// The file is missing or unreadable.
    #[error("{file}: {reason}", file = .file.display(), reason = why_unreadable(.cause))]
    Read {
        /// The file.
        file: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// The file has mistakes.
    #[error(transparent)]
    Mistakes(#[from] Mistakes),
}

/// Reads a project file for review; from a directory its `.mcp.json`.
pub fn review(path: &Path, env: &dyn Environment) -> Result<Review, ReviewError> {
    let path = if path.file_name().is_some_and(|name| name == PROJECT_FILE) {
        path.to_path_buf()
    } else {
        match env.read(path) {
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => path.join(PROJECT_FILE),
            _ => path.to_path_buf(),
        }
    };
    let read = env
        .canonical(&path)
        .and_then(|file| env.read(&file).map(|bytes| (file, bytes)));
    let (file, bytes) = read.map_err(|cause| ReviewError::Read { file: path, cause })?;
    let (entries, diagnostics) = entries::read_file(&file, &bytes, Expansion::Off);
    if !diagnostics.mistakes.is_empty() {
        return Err(Mistakes(diagnostics.mistakes).into());
    }
    Ok(Review {
        servers: entries.into_iter().filter_map(|entry| entry.server).collect(),
        warnings: diagnostics.warnings,
        digest: consent::digest(&bytes),
        file,
    })
}

impl Review {
    /// Trusts exactly the reviewed content.
    pub fn trust(&self, lock: &ChangeLock<'_>) -> Result<(), StateError> {
        consent::trust(&self.file, &self.digest, lock)
    }
}
