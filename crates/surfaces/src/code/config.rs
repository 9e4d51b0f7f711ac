//! Settings of the `code` surface.

use std::sync::Arc;

use policy::Policy;
use types::{Answers, CheckMode};

/// Settings of the `code` surface.
#[derive(Debug, Clone)]
pub struct CodeConfig {
    /// Bounds what a call may ask for.
    pub policy: Arc<Policy>,
    /// Default form and size of results.
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
    /// Also names of servers or their tools; the client is notified of changes.
    Changing,
}
