//! The bill of an import: the tokens of the tool definitions before and after.

/// The tokens of the tool definitions of each server, and of codeyard in their place.
pub struct Bill {
    /// The servers that were asked.
    pub servers: Vec<ServerCost>,
    /// Tokens of what codeyard sends a model instead.
    pub after: u64,
}

/// What the definitions of one server cost.
pub struct ServerCost {
    /// The name of the server in codeyard.
    pub name: String,
    /// Whether the client uses the server, so that it costs tokens there now.
    pub is_used: bool,
    /// The number of tools and the tokens of their definitions; or why they are unknown.
    pub definitions: Result<(usize, u64), String>,
}

impl Bill {
    /// Whether the server could not be asked.
    pub fn has_failed(&self, name: &str) -> bool {
        self.servers
            .iter()
            .any(|server| server.name == name && server.definitions.is_err())
    }

    /// Tools and tokens of all servers that answered and that the client uses; `None` if there is none.
    pub fn before(&self) -> Option<(usize, u64)> {
        let used = self.servers.iter().filter(|server| server.is_used);
        let costs = used.filter_map(|server| server.definitions.as_ref().ok().copied());
        costs.reduce(|(tools, tokens), cost| (tools + cost.0, tokens + cost.1))
    }
}
