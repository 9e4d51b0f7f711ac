//! Why nothing was saved, loaded or removed, inside and as callers see it.

use crate::database::Database;
use crate::trouble::Trouble;

/// Why nothing was saved, loaded or removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SavedError {
    /// It may not be saved so; the text says why and what may.
    #[error("{0}")]
    Refused(String),
    /// Somebody else has saved the memory meanwhile.
    #[error("memory '{key}' has version {stored} and not {expected}: it was changed meanwhile")]
    Conflict {
        /// Its key.
        key: String,
        /// The version that it has; 0 is "not there".
        stored: u64,
        /// The version that was asked for.
        expected: u64,
    },
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] Trouble),
}

/// Why a piece of work did nothing.
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
    /// What went wrong with a database, without naming its place.
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
