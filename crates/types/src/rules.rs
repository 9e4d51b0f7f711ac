//! A server definition's rules about its own tools.

/// Which of a server's tools may be called, by its own definition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolRules {
    /// Where the rules are, for messages: `mcpServers.crm of /home/me/mcp.json`.
    pub place: String,
    /// Globs on tools' names that may be called; empty means all.
    pub allow: Vec<String>,
    /// Globs that may not be called, whatever `allow` says.
    pub deny: Vec<String>,
}

impl ToolRules {
    /// Whether the rules allow every tool.
    pub fn is_empty(&self) -> bool {
        self.allow.is_empty() && self.deny.is_empty()
    }
}
