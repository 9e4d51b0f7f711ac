//! Where bash and its files are, as the host tells the guest.

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
    /// Directory of the programs beside the machine's, which begins the search path.
    pub programs: String,
}
