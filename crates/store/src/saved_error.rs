//! Errors of saving, loading and removing: the internal error and the callers' error.

use crate::database::Database;
use crate::trouble::Trouble;

/// Why nothing was saved, loaded or removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SavedError {
    /// The content is not allowed; the text gives the reason and the allowed content.
    #[error("{0}")]
    Refused(String),
    /// The memory was saved by another run meanwhile.
    #[error("memory '{key}' has version {stored}, not {expected}: it was changed meanwhile")]
    Conflict {
        /// The memory's key.
        key: String,
        /// Current version; 0 means that the memory does not exist.
        stored: u64,
        /// Expected version.
        expected: u64,
    },
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] Trouble),
}

#[derive(Debug)]
pub(crate) enum Fault {
    Refused(String),
    Conflict { key: String, stored: u64, expected: u64 },
    Database(sqlx::Error),
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Fault::Database(error)
    }
}

// === impl SavedError ===

impl SavedError {
    /// A database error without the location of the database.
    pub(crate) fn of(database: &Database, fault: Fault) -> SavedError {
        match fault {
            Fault::Refused(why) => SavedError::Refused(why),
            Fault::Conflict {
                key,
                stored,
                expected,
            } => SavedError::Conflict {
                key,
                stored,
                expected,
            },
            Fault::Database(error) => SavedError::Store(Trouble::of(database, &error)),
        }
    }
}
