//! What the definition of a server says of its own tools.

/// Which tools of a server may be called, by its own definition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolRules {
    /// Where they stand, for messages: `mcpServers.crm of /home/me/mcp.json`.
    pub place: String,
    /// Tools that may be called, as globs on a tool's name; empty means all.
    pub allow: Vec<String>,
    /// Tools that may not be called, whatever `allow` says.
    pub deny: Vec<String>,
}

impl ToolRules {
    /// Whether they leave every tool as it is.
    pub fn is_empty(&self) -> bool {
        self.allow.is_empty() && self.deny.is_empty()
    }
}
