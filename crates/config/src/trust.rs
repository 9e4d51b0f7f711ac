//! Trust in project files: a cloned repository must not run commands before a person has read them.
//!
//! Trust is in the content: the SHA-256 of the file is kept under its path, so a changed file is not trusted.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use upstream::ServerConfig;

use crate::host::Host;
use crate::kept::{KeptError, List, Turn};
use crate::mistakes::{Findings, Mistakes, Warning, why_unreadable};
use crate::servers::{self, Variables};

/// Name of the project file, which other clients read too.
pub const PROJECT_FILE: &str = ".mcp.json";

/// Path of a file to the digest of its trusted content.
const TRUSTED: List = List {
    name: "trust.json",
    what: "trusted files",
    remedy: "remove it and trust your projects again",
};

/// What is known of a project file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// A person trusted exactly this content.
    Trusted,
    /// A person trusted another content.
    Changed,
    /// Nobody has trusted it.
    Unknown,
}

/// A project file as it is now, for a person to read before it is trusted.
#[derive(Debug, Clone)]
pub struct Review {
    /// The file, without links.
    pub file: PathBuf,
    /// Its servers with variables as they are written.
    pub servers: Vec<ServerConfig>,
    /// What codeyard does not use.
    pub warnings: Vec<Warning>,
    digest: String,
}

/// Why a file cannot be trusted.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// There is no such file, or it cannot be read.
    #[error("{file}: {reason}", file = .file.display(), reason = why_unreadable(.cause))]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The file is no configuration.
    #[error(transparent)]
    Mistakes(#[from] Mistakes),
}

/// Reads a project file for review. A directory stands for its `.mcp.json`.
pub fn review(path: &Path, host: &dyn Host) -> Result<Review, TrustError> {
    let path = if path.file_name().is_some_and(|name| name == PROJECT_FILE) {
        path.to_path_buf()
    } else {
        match host.read(path) {
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => path.join(PROJECT_FILE),
            _ => path.to_path_buf(),
        }
    };
    let read = host
        .canonical(&path)
        .and_then(|file| host.read(&file).map(|bytes| (file, bytes)));
    let (file, bytes) = read.map_err(|cause| TrustError::Read { file: path, cause })?;
    let (entries, findings) = servers::read(&file, &bytes, Variables::Keep);
    if !findings.mistakes.is_empty() {
        return Err(Mistakes(findings.mistakes).into());
    }
    Ok(Review {
        servers: entries.into_iter().filter_map(|entry| entry.server).collect(),
        warnings: findings.warnings,
        digest: digest(&bytes),
        file,
    })
}

/// Trusts exactly the content that was reviewed.
pub fn accept(review: &Review, turn: &Turn<'_>) -> Result<(), KeptError> {
    TRUSTED.change::<String>(turn, |files| {
        files.insert(review.file.clone(), review.digest.clone());
    })
}

/// Whether this content of this file is trusted. A damaged list trusts nothing and is a warning.
pub(crate) fn standing(
    file: &Path,
    bytes: &[u8],
    data: &Path,
    host: &dyn Host,
    findings: &mut Findings,
) -> Standing {
    let trusted: BTreeMap<PathBuf, String> = match TRUSTED.read(data, host) {
        Ok(trusted) => trusted,
        Err(cause) => {
            let mut damaged = Findings::of(Some(&path(data)));
            damaged.warning("", format!("{cause}; {}", TRUSTED.remedy));
            findings.absorb(damaged);
            return Standing::Unknown;
        }
    };
    match trusted.get(file) {
        Some(trusted) if *trusted == digest(bytes) => Standing::Trusted,
        Some(_) => Standing::Changed,
        None => Standing::Unknown,
    }
}

/// The list of trusted files.
pub(crate) fn path(data: &Path) -> PathBuf {
    TRUSTED.path(data)
}

/// The SHA-256 of something, as text.
pub(crate) fn digest(bytes: &[u8]) -> String {
    use std::fmt::Write;
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}
