//! Trust in project files: a cloned repository must not start programs before a person has read its definitions.
//!
//! Trust is in the content. The SHA-256 of the trusted content is stored under the path of the file, so a changed file is
//! not trusted.

use std::path::{Path, PathBuf};

use environment::{ChangeLock, Diagnostics, Environment, StateError, StateFile};

use crate::digest::digest;

/// Maps the path of a file to the digest of its trusted content.
const TRUSTED: StateFile = StateFile {
    name: "trust.json",
    what: "trusted files",
    remedy: "remove it and trust your projects again",
};

/// Whether a person trusts the content of a project file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustState {
    /// A person trusted exactly this content.
    Trusted,
    /// A person trusted other content of this file.
    Changed,
    /// Nobody has trusted the file.
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

/// The state file with the trusted project files.
pub fn trusted_files(data: &Path) -> PathBuf {
    TRUSTED.path(data)
}
