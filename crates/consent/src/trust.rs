//! Trust in project files: a cloned repository must not start programs before a person has read its
//! definitions.
//!
//! Trust is in the content: the SHA-256 of the trusted content is stored under the file's path, so
//! a changed file is untrusted.

use std::path::{Path, PathBuf};

use environment::{ChangeLock, Diagnostics, Environment, StateError, StateFile};

use crate::digest::digest;

/// Maps a file's path to the digest of the trusted content.
const TRUSTED: StateFile = StateFile {
    name: "trust.json",
    what: "trusted files",
    remedy: "remove it and trust your projects again",
};

/// A person's trust in a project file's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustState {
    /// Trusted in exactly this content.
    Trusted,
    /// Trusted with other content.
    Changed,
    /// Never trusted.
    Unknown,
}

/// Trusts the content with this digest, of this file.
///
/// # Errors
/// If the list is damaged or cannot be written.
pub fn trust(file: &Path, digest: &str, lock: &ChangeLock<'_>) -> Result<(), StateError> {
    TRUSTED.change::<String>(lock, |files| {
        files.insert(file.to_path_buf(), digest.to_owned());
    })
}

/// Whether this content of this file is trusted. A damaged list trusts nothing and is a warning.
pub fn trust_state(
    file: &Path,
    bytes: &[u8],
    data: &Path,
    env: &dyn Environment,
    diagnostics: &mut Diagnostics,
) -> TrustState {
    let trusted = match TRUSTED.read::<String>(data, env) {
        Ok(trusted) => trusted,
        Err(cause) => {
            let warning = format!("{cause}; {}", TRUSTED.remedy);
            diagnostics.warning_in(&trusted_files(data), "", warning);
            return TrustState::Unknown;
        }
    };
    match trusted.get(file) {
        Some(trusted) if *trusted == digest(bytes) => TrustState::Trusted,
        Some(_) => TrustState::Changed,
        None => TrustState::Unknown,
    }
}

/// Path of the list of trusted project files.
pub fn trusted_files(data: &Path) -> PathBuf {
    TRUSTED.path(data)
}
