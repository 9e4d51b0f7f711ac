//! Configuration of records: content, location and retention.

use std::path::Path;
use std::time::Duration;

use crate::database::Database;

/// File name of the database in the data directory.
pub const FILE: &str = "codeyard.db";
/// Default retention: 30 days.
pub const DEFAULT_KEEP_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Default bound on the database, in bytes.
pub const DEFAULT_KEEP_SIZE: u64 = 256 * 1024 * 1024;

/// The detail in which call arguments are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentDetail {
    /// The arguments' names, types and hash.
    Shape,
    /// Also the values.
    Full,
}

/// What is recorded of a run for execution logs, beyond its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExecutionDetail {
    /// Nothing: there is no execution log.
    #[default]
    Omitted,
    /// Exit status, bytes and paths of files.
    Facts,
    /// Also the program and the message of its error.
    Texts,
}

/// Which data is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recording {
    /// Nothing.
    Off,
    /// Runs, calls and events.
    On {
        /// The detail in which call arguments are recorded.
        arguments: ArgumentDetail,
        /// Refuse runs that cannot be recorded.
        required: bool,
        /// Keep recordings, so that runs can be repeated.
        replay: bool,
    },
}

/// Configuration of records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordsConfig {
    /// Location of the records.
    pub database: Database,
    /// Which data is recorded.
    pub recording: Recording,
    /// What execution logs get beyond that.
    pub execution: ExecutionDetail,
    /// Maximum age; older records are removed. Postgres removes whole days (UTC).
    pub keep_for: Duration,
    /// Maximum size in bytes; above it, the oldest records are removed. Postgres removes whole days, never today.
    pub keep_size: u64,
}

// === impl Recording ===

impl Default for Recording {
    fn default() -> Self {
        Recording::On {
            arguments: ArgumentDetail::Shape,
            required: false,
            replay: false,
        }
    }
}

impl Recording {
    /// The default of the gateway, where runs can be repeated.
    pub fn of_gateway() -> Recording {
        Recording::On {
            arguments: ArgumentDetail::Shape,
            required: false,
            replay: true,
        }
    }

    pub(crate) fn arguments(self) -> ArgumentDetail {
        match self {
            Recording::Off => ArgumentDetail::Shape,
            Recording::On { arguments, .. } => arguments,
        }
    }

    pub(crate) fn is_replayable(self) -> bool {
        matches!(self, Recording::On { replay: true, .. })
    }

    pub(crate) fn is_required(self) -> bool {
        matches!(self, Recording::On { required: true, .. })
    }
}

// === impl RecordsConfig ===

impl RecordsConfig {
    /// The defaults, with the database in the directory `data`.
    pub fn below(data: &Path) -> RecordsConfig {
        RecordsConfig {
            database: data.join(FILE).into(),
            recording: Recording::default(),
            execution: ExecutionDetail::default(),
            keep_for: DEFAULT_KEEP_FOR,
            keep_size: DEFAULT_KEEP_SIZE,
        }
    }
}
