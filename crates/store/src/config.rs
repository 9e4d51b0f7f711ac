//! What is recorded, where, and how long it is kept.

use std::path::Path;
use std::time::Duration;

use crate::database::Database;

/// Name of the database in the data directory.
pub const FILE: &str = "codeyard.db";
/// How long records are kept unless the settings say otherwise.
pub const DEFAULT_KEEP_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How large the database may grow unless the settings say otherwise, in bytes.
pub const DEFAULT_KEEP_SIZE: u64 = 256 * 1024 * 1024;

/// How much is kept of the arguments of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptArguments {
    /// Their names, types and hash.
    Shape,
    /// The values too.
    Full,
}

/// What is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recording {
    /// Nothing.
    Off,
    /// Runs, calls and events.
    On {
        /// How much of the arguments of calls.
        arguments: KeptArguments,
        /// A run that cannot be recorded is refused.
        required: bool,
    },
}

/// Where records are kept and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordsConfig {
    /// The database.
    pub database: Database,
    /// What is recorded.
    pub recording: Recording,
    /// Records older than this are removed; on Postgres by whole days (UTC).
    pub keep_for: Duration,
    /// The oldest records are removed when records take more than this, in bytes. On Postgres whole days go, but never
    /// today's.
    pub keep_size: u64,
}

// === impl Recording ===

impl Default for Recording {
    fn default() -> Self {
        Recording::On {
            arguments: KeptArguments::Shape,
            required: false,
        }
    }
}

impl Recording {
    pub(crate) fn arguments(self) -> KeptArguments {
        match self {
            Recording::Off => KeptArguments::Shape,
            Recording::On { arguments, .. } => arguments,
        }
    }

    pub(crate) fn is_required(self) -> bool {
        matches!(self, Recording::On { required: true, .. })
    }
}

// === impl RecordsConfig ===

impl RecordsConfig {
    /// The defaults, with the database in this directory.
    pub fn below(data: &Path) -> RecordsConfig {
        RecordsConfig {
            database: data.join(FILE).into(),
            recording: Recording::default(),
            keep_for: DEFAULT_KEEP_FOR,
            keep_size: DEFAULT_KEEP_SIZE,
        }
    }
}
