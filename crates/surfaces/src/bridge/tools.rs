//! The tool and the resource of the `bridge` surface, constant for every set of servers.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{JsonObject, Resource, Tool};
use serde_json::{Value, json};

pub(super) const RUN: &str = "run_python";

pub(super) const CAPABILITIES_URI: &str = "resource://mcp-server-code-execution-mode/capabilities";

pub(super) const CAPABILITIES: &str = include_str!("capabilities.md");

const DESCRIPTION: &str = "Run Python in a persistent sandbox whose programs call MCP servers.";

/// Description of the `code` argument, repeated at the start of the manual.
const HELPERS: &str = "Python Sandbox. 1. DISCOVER: `runtime.discovered_servers()`, \
    `runtime.search_tool_docs('query')`. Use `discovered_servers(detailed=True)` for descriptions. 2. CALL: `await \
    mcp_server.tool()`. 3. PERSIST: `save_tool(func)`. Run `print(runtime.capability_summary())` for the full manual.";

/// Bounds of a program's run time, in whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Run time of a call that requests none.
    pub default: u64,
    /// Upper bound.
    pub max: u64,
}

impl Timeouts {
    pub(super) fn clamp(self, requested: Option<i128>) -> Duration {
        let seconds = requested.map_or(self.default, |seconds| {
            u64::try_from(seconds.clamp(1, i128::from(self.max))).unwrap_or(self.default)
        });
        Duration::from_secs(seconds)
    }
}

pub(super) fn tool(timeouts: Timeouts) -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "code": {"type": "string", "description": HELPERS},
            "servers": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Servers to load for this call.",
            },
            "timeout": {
                "type": "integer",
                "minimum": 1,
                "maximum": timeouts.max,
                "default": timeouts.default,
                "description": "Seconds.",
            },
        },
        "required": ["code"],
    });
    Tool::new(RUN, DESCRIPTION, object(schema))
}

pub(super) fn capabilities() -> Resource {
    Resource::new(CAPABILITIES_URI, "code-execution-capabilities")
        .with_title("Code Execution Sandbox Helpers")
        .with_description("What programs find in the sandbox.")
        .with_mime_type("text/markdown")
        .with_size(CAPABILITIES.len() as u64)
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUTS: Timeouts = Timeouts {
        default: 30,
        max: 120,
    };

    #[test]
    fn a_model_is_sent_little() {
        let tool = tool(TIMEOUTS);
        let sent =
            json!({"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema});
        let tokens = tiktoken_rs::o200k_base()
            .unwrap()
            .encode_ordinary(&sent.to_string())
            .len();
        assert!(tokens <= 250, "{tokens} tokens");
        insta::assert_snapshot!(serde_json::to_string_pretty(&sent).unwrap());
    }

    #[test]
    fn the_manual_repeats_the_summary() {
        assert!(CAPABILITIES.contains(HELPERS));
    }

    #[test]
    fn timeouts_are_clamped() {
        let seconds = |requested| TIMEOUTS.clamp(requested).as_secs();
        assert_eq!(
            [None, Some(0), Some(-5), Some(7), Some(100_000), Some(i128::MAX)].map(seconds),
            [30, 1, 1, 7, 120, 120]
        );
    }
}
