//! The model of a member's sessions and files at each virtual server.

use std::collections::BTreeMap;

/// The state of one member. Keys are the model's server numbers, because server ids may be reused.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// The variable `secret`, with the version of the server at which it was set.
    pub(super) variables: BTreeMap<usize, (String, u32)>,
    /// The content of `/scratch/secret`.
    pub(super) files: BTreeMap<usize, String>,
    /// MCP session ids, with the version of the server.
    pub(super) mcp_sessions: BTreeMap<usize, (String, u32)>,
    /// Names of API tokens that the member can revoke.
    pub(super) tokens: Vec<String>,
}
