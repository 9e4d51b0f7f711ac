//! The caller's evaluator of JSON filters.

use crate::evaluated::MAX_OUTPUT;

/// Characters of a filter, as in system 0.
pub const MAX_FILTER: usize = 1024;

/// Bytes of JSON that one filter may read.
pub const MAX_JSON: usize = 32 << 20;

/// Evaluates filters of JSON.
///
/// A short filter can request any amount of memory, which only the operating system can bound. So [`Jaq`](crate::Jaq)
/// belongs in a jailed process; other implementations delegate to such a process.
pub trait Jq {
    /// Applies the filter to each document in turn, until `is_over` returns true.
    fn filter(&self, filter: &str, documents: Vec<u8>, is_over: &dyn Fn() -> bool) -> Filtered;
}

/// The result of a filter.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Filtered {
    /// One line per result, up to the error: strings unquoted, other values as JSON.
    pub output: Vec<u8>,
    /// The error that ended the filter early.
    pub error: Option<JqError>,
}

/// Why a filter ended early. The messages begin like those of system 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JqError {
    /// The filter does not parse, or has failed on a document.
    #[error("jq: invalid filter: {0}")]
    Filter(String),
    /// A document is not JSON.
    #[error("jq: invalid JSON input: {0}")]
    Input(String),
    /// The documents are larger than [`MAX_JSON`].
    #[error("jq: input too large (max {} MiB)", MAX_JSON >> 20)]
    InputTooLarge,
    /// The results are larger than [`MAX_OUTPUT`](crate::MAX_OUTPUT).
    #[error("jq: output too large (max {} MiB)", MAX_OUTPUT >> 20)]
    OutputTooLarge,
    /// The filter exceeded a limit, named in the text.
    #[error("jq: {0}")]
    Limit(String),
    /// The run's time is over.
    #[error("jq: stopped, because the time of the run is over")]
    TimeIsOver,
}
