//! The bill of an import: tokens of the tool definitions before and after.

/// The tokens of each server's tool definitions, and of codeyard's definitions that replace them.
pub struct Bill {
    /// Every server whose tool list was requested.
    pub servers: Vec<ServerCost>,
    /// Tokens of the definitions that codeyard sends to a model instead.
    pub after: u64,
}

/// Cost of one server's definitions.
pub struct ServerCost {
    /// The server's name in codeyard.
    pub name: String,
    /// Whether the client uses the server, so that its tokens count today.
    pub is_used: bool,
    /// Number of tools and tokens of their definitions; or why they are unknown.
    pub definitions: Result<(usize, u64), String>,
}

impl Bill {
    /// Whether the server's tool list could not be fetched.
    pub fn has_failed(&self, name: &str) -> bool {
        self.servers
            .iter()
            .any(|server| server.name == name && server.definitions.is_err())
    }

    /// Tools and tokens of all servers that responded and that the client uses; `None` without such a server.
    pub fn before(&self) -> Option<(usize, u64)> {
        let used = self.servers.iter().filter(|server| server.is_used);
        let costs = used.filter_map(|server| server.definitions.as_ref().ok().copied());
        costs.reduce(|(tools, tokens), cost| (tools + cost.0, tokens + cost.1))
    }
}
