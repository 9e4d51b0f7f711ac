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
    /// Whether a run has a receipt where the call does not say.
    pub receipt: bool,
    /// What happens with the findings of the check before a run where the call does not say.
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
