//! Settings of the `code` surface.

use std::sync::Arc;

use policy::Policy;
use types::{Answers, CheckMode};

/// Settings of the `code` surface.
#[derive(Debug, Clone)]
pub struct CodeConfig {
    /// The policy that limits what a call may request.
    pub policy: Arc<Policy>,
    /// Default form and size of results.
    pub answers: Answers,
    /// Default of the argument `receipt`.
    pub receipt: bool,
    /// Default of the argument `check`.
    pub check: CheckMode,
    /// Whether the tool list can change.
    pub listing: ToolListing,
}

/// Whether the tool list can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolListing {
    /// The two tools, the same for every configuration.
    Constant,
    /// Also names of servers or their tools; the client is notified of changes.
    Changing,
}
