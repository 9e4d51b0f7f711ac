//! Locations of bash and its files, from the host.

use serde::Deserialize;

/// The shell of a session.
#[derive(Debug, Clone, Deserialize)]
pub struct ShellSettings {
    /// Path of bash.
    pub bash: String,
    /// Version of bash, for people.
    pub version: String,
    /// Directory of the files that bash reads first.
    pub files: String,
    /// Directory of codeyard's programs, first in the search path.
    pub programs: String,
}
