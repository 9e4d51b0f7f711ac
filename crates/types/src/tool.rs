//! Tools of upstream servers as the core knows them: names, schemas, and the definition as received.

use std::fmt;

use serde_json::Value;

/// One tool of one server, by the names of configuration and definition.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolRef {
    /// The server's name in the configuration.
    pub server: String,
    /// The tool's name in its definition.
    pub tool: String,
}

impl ToolRef {
    /// Names one tool.
    pub fn new(server: impl Into<String>, tool: impl Into<String>) -> Self {
        Self {
            server: server.into(),
            tool: tool.into(),
        }
    }
}

impl fmt::Display for ToolRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.server, self.tool)
    }
}

/// One tool definition. `raw` holds all fields as received, known or not.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The name in the definition.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it does, for a model.
    pub description: Option<String>,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
    /// JSON Schema of `structuredContent`.
    pub output_schema: Option<Value>,
    /// The definition as the server sent it.
    pub raw: Value,
}

/// A server with the tools that it last listed.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerTools {
    /// The server's name in the configuration.
    pub name: String,
    /// The description in the configuration, else what the server says of itself.
    pub description: Option<String>,
    /// `None` while the server has not been asked and no cached list exists.
    pub tools: Option<Vec<Tool>>,
}
