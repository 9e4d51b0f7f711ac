//! The two tools of the `code` surface and its instructions: constant, whatever is connected.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// Name of the tool that runs programs.
pub(super) const EXECUTE: &str = "execute_code";

/// Name of the tool that finds tools.
pub(super) const SEARCH: &str = "search_tools";

/// What a client may put before its model.
pub(super) const INSTRUCTIONS: &str =
    "Connected tools are called from programs: search_tools, then one execute_code for many calls.";

const EXECUTE_DESCRIPTION: &str = "Run Python in a sandbox where connected tools are async functions: \
    `await tools.<server>.<tool>(arg=value)`. Print or return only what you need. Variables persist. \
    Manual: `from mcp import runtime; print(runtime.manual())`";

const SEARCH_DESCRIPTION: &str = "Find connected tools and their signatures.";

/// Both tools, in the order in which they are listed.
pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            EXECUTE,
            EXECUTE_DESCRIPTION,
            schema(json!({
                "type": "object",
                "properties": {
                    "code": {"type": "string"},
                    "language": {"enum": ["python"]},
                    "session": {"type": "string"},
                    "timeout_ms": {"type": "integer"},
                },
                "required": ["code"],
            })),
        ),
        Tool::new(
            SEARCH,
            SEARCH_DESCRIPTION,
            schema(json!({
                "type": "object",
                "properties": {
                    "query": {"type": "string"},
                    "limit": {"type": "integer"},
                    "detail": {"enum": ["name", "summary", "full"]},
                },
                "required": ["query"],
            })),
        )
        .with_annotations(ToolAnnotations::new().read_only(true)),
    ]
}

fn schema(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a model is sent: the tools as JSON, and the instructions.
    fn sent() -> String {
        let tools: Vec<Value> = tools()
            .into_iter()
            .map(|tool| json!({"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}))
            .collect();
        format!("{}\n{INSTRUCTIONS}", Value::from(tools))
    }

    #[test]
    fn a_model_is_sent_at_most_200_tokens() {
        let bpe = tiktoken_rs::o200k_base().unwrap();
        let tokens = bpe.encode_ordinary(&sent()).len();
        // A client that sends everything it was listed sends little more.
        let listed = format!("{}\n{INSTRUCTIONS}", serde_json::to_string(&tools()).unwrap());
        let listed = bpe.encode_ordinary(&listed).len();
        assert!(tokens <= 200 && listed <= 200, "{tokens} and {listed} tokens");
    }

    #[test]
    fn what_a_model_is_sent() {
        insta::assert_snapshot!(sent());
    }
}
