//! Paths of a session.

use std::path::PathBuf;

/// The directory of programs, and where their relative paths begin.
pub const WORKSPACE: &str = "/workspace";
/// Output too long to be shown.
pub const RESULTS: &str = "/results";
/// Where the directories of the host are mounted; programs know them by the links to them.
const ATTACHED: &str = "/at";

/// The session's own file system, to which other links lead.
const OWN: &str = "/rw/d";

/// The path by which programs know a real path.
pub fn shown(real: &str) -> &str {
    if let Some(own) = real.strip_prefix(OWN).filter(|own| own.starts_with('/')) {
        return own;
    }
    let below = real.strip_prefix(ATTACHED).unwrap_or(real);
    let is_known = [WORKSPACE, RESULTS].iter().any(|root| {
        below
            .strip_prefix(root)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    if is_known { below } else { real }
}

/// The working directory, as programs know it.
pub fn current_directory() -> PathBuf {
    let real = std::env::current_dir().unwrap_or_else(|_| WORKSPACE.into());
    match real.to_str() {
        Some(real) => shown(real).into(),
        None => real,
    }
}
