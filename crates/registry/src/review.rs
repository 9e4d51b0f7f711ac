//! Review of a project file: its servers, for a person to read before the file is trusted.

use std::io;
use std::path::{Path, PathBuf};

use environment::{ChangeLock, Environment, Mistakes, StateError, Warning, why_unreadable};
use upstream::ServerConfig;

use crate::entries::{self, Expansion};

/// Name of the project file, which other clients read too.
pub const PROJECT_FILE: &str = ".mcp.json";

/// A project file as a person reviews it.
#[derive(Debug, Clone)]
pub struct Review {
    /// The file, without links.
    pub file: PathBuf,
    /// Its servers. Variables are not expanded.
    pub servers: Vec<ServerConfig>,
    /// What codeyard ignores.
    pub warnings: Vec<Warning>,
    /// The hash of the reviewed content.
    digest: String,
}

/// Why a file cannot be reviewed.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// The file does not exist or cannot be read.
    #[error("{file}: {reason}", file = .file.display(), reason = why_unreadable(.cause))]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The file has mistakes.
    #[error(transparent)]
    Mistakes(#[from] Mistakes),
}

/// Reads a project file for review. For a directory, its `.mcp.json` is read.
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
    /// Trusts exactly the content that was reviewed.
    pub fn trust(&self, lock: &ChangeLock<'_>) -> Result<(), StateError> {
        consent::trust(&self.file, &self.digest, lock)
    }
}
