//! The run that a surface asks for.

use types::{RunProfile, RunSpec};

/// A run. The surface builds both descriptions once; the core passes them on unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct Execute {
    /// What is asked; the program is never blank.
    pub spec: RunSpec,
    /// What the surface means by the run.
    pub profile: RunProfile,
    /// Whether the tokens of the run are counted.
    pub receipt: bool,
    /// The searches since the run before.
    pub searched: SearchCounts,
}

/// The searches for tools between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SearchCounts {
    /// How many.
    pub searches: u64,
    /// Bytes of queries and answers.
    pub bytes: u64,
}
