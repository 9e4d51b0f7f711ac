//! Trust in project files: a cloned repository must not run commands before a person has read them.
//!
//! Trust is in the content: the SHA-256 of the file is kept under its path, so a changed file is not trusted.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use upstream::ServerConfig;

use crate::host::Host;
use crate::mistakes::{Findings, Mistakes, Warning, why_unreadable};
use crate::servers::{self, Variables};

/// Name of the project file, which other clients read too.
pub const PROJECT_FILE: &str = ".mcp.json";

/// Version of `trust.json`; a field more is a version more.
const VERSION: u32 = 1;

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

/// Why trust could not be recorded.
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
    /// The list of trusted files is damaged.
    #[error("{file}: {cause}; remove it and trust your projects again", file = .file.display())]
    Store {
        /// The list.
        file: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// The list of trusted files could not be written.
    #[error("{file}: {cause}; make the data directory writable or choose another with --data", file = .file.display())]
    Write {
        /// The list.
        file: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Store {
    version: u32,
    /// Path to the digest of the trusted content.
    files: BTreeMap<PathBuf, String>,
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
pub fn accept(review: &Review, data: &Path, host: &dyn Host) -> Result<(), TrustError> {
    let path = self::path(data);
    let hold = host.hold(&path).map_err(|cause| TrustError::Write {
        file: path.clone(),
        cause,
    });
    let _hold = hold?;
    let mut store = load(&path, host).map_err(|cause| TrustError::Store {
        file: path.clone(),
        cause,
    })?;
    store.files.insert(review.file.clone(), review.digest.clone());
    let text = serde_json::to_vec_pretty(&store).map_err(io::Error::from);
    text.and_then(|text| host.replace(&path, &text))
        .map_err(|cause| TrustError::Write { file: path, cause })
}

/// Whether this content of this file is trusted. A damaged list trusts nothing and is a warning.
pub(crate) fn standing(
    file: &Path,
    bytes: &[u8],
    data: &Path,
    host: &dyn Host,
    findings: &mut Findings,
) -> Standing {
    let path = self::path(data);
    let store = match load(&path, host) {
        Ok(store) => store,
        Err(cause) => {
            let mut damaged = Findings::of(Some(&path));
            damaged.warning("", format!("{cause}; remove it and trust your projects again"));
            findings.absorb(damaged);
            return Standing::Unknown;
        }
    };
    match store.files.get(file) {
        Some(trusted) if *trusted == digest(bytes) => Standing::Trusted,
        Some(_) => Standing::Changed,
        None => Standing::Unknown,
    }
}

/// The list of trusted files.
pub(crate) fn path(data: &Path) -> PathBuf {
    data.join("trust.json")
}

fn load(path: &Path, host: &dyn Host) -> Result<Store, String> {
    let bytes = match host.read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Store {
                version: VERSION,
                files: BTreeMap::new(),
            });
        }
        Err(error) => return Err(error.to_string()),
    };
    match serde_json::from_slice::<Store>(&bytes) {
        Ok(store) if store.version == VERSION => Ok(store),
        Ok(store) => Err(format!("version {} is of another codeyard", store.version)),
        Err(error) => Err(format!("the list of trusted files is damaged: {error}")),
    }
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
