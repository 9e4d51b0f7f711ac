//! Why records could not be sent.

use std::time::Duration;

/// What becomes of the records.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SendError {
    /// They wait, and are sent again later.
    #[error("{why}")]
    Unavailable {
        why: String,
        /// How long the collector wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// The collector will never take them as they are.
    #[error("{0}")]
    Refused(String),
}

// === impl SendError ===

impl SendError {
    pub(crate) fn unavailable(why: impl ToString) -> SendError {
        SendError::Unavailable {
            why: why.to_string(),
            retry_after: None,
        }
    }
}

impl From<std::io::Error> for SendError {
    fn from(error: std::io::Error) -> SendError {
        SendError::unavailable(error)
    }
}
