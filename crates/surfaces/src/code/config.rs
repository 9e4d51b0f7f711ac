//! How the `code` surface answers.

use std::sync::Arc;

use policy::Policy;
use types::{Answers, CheckMode};

/// How the surface answers.
#[derive(Debug, Clone)]
pub struct CodeConfig {
    /// Decides what a call may ask for.
    pub policy: Arc<Policy>,
    /// The form of results where a call does not ask for another.
    pub answers: Answers,
    /// Default of the argument `receipt`.
    pub receipt: bool,
    /// Default of the argument `check`.
    pub check: CheckMode,
    /// What the tool list contains.
    pub listing: ToolListing,
}

/// What the tool list contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolListing {
    /// The two tools, the same for every configuration.
    Constant,
    /// Also names of servers or their tools. The client is notified of changes.
    Changing,
}
