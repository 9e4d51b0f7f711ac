//! Why records could not be sent.

use std::time::Duration;

/// A failed attempt to send.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SendError {
    /// The records wait for another attempt.
    #[error("{why}")]
    Unavailable {
        why: String,
        /// Delay that the collector requests.
        retry_after: Option<Duration>,
    },
    /// The collector will never accept these records.
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
