//! The run that a surface requests.

use types::{RunProfile, RunSpec, TraceContext};

/// A run. The surface builds both parts once; the core passes them on unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct Execute {
    /// The requested run; the program is never blank.
    pub spec: RunSpec,
    /// How the surface interprets the run.
    pub profile: RunProfile,
    /// Whether the run's tokens are counted.
    pub receipt: bool,
    /// Searches since the previous run.
    pub searched: SearchCounts,
    /// The trace that the request belongs to.
    pub trace: Option<TraceContext>,
}

/// Searches for tools between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SearchCounts {
    /// Number of searches.
    pub searches: u64,
    /// Bytes of queries and answers.
    pub bytes: u64,
}
