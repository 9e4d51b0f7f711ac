//! Trust in project files: a cloned repository must not start programs before a person has read its
//! definitions.
//!
//! Trust covers one content: the list holds the SHA-256 of the trusted content under the file's path, so a changed
//! file is untrusted.

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
    /// This content is trusted.
    Trusted,
    /// Another content of the file is trusted.
    Changed,
    /// The file was never trusted.
    Unknown,
}

/// Trusts the content of this file with this digest.
///
/// # Errors
/// If the list is damaged or cannot be written.
pub fn trust(file: &Path, digest: &str, lock: &ChangeLock<'_>) -> Result<(), StateError> {
    TRUSTED.change::<String>(lock, |files| {
        files.insert(file.to_path_buf(), digest.to_owned());
    })
}

/// Whether this content of this file is trusted. A damaged list causes a warning and trusts nothing.
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
