//! What a member's sessions and files hold at each virtual server, as the model knows it.

use std::collections::BTreeMap;

/// Of one member. Servers go by their numbers in the model, since an id may be used again.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// The variable `secret`, with the version of the server at which it was set.
    pub(super) variables: BTreeMap<usize, (String, u32)>,
    /// The content of `/scratch/secret`.
    pub(super) files: BTreeMap<usize, String>,
    /// Sessions of MCP, with the version of the server.
    pub(super) mcp_sessions: BTreeMap<usize, (String, u32)>,
    /// Names of API tokens that can be revoked.
    pub(super) tokens: Vec<String>,
}
