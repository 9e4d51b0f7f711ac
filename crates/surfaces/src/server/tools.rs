//! The four tools of the `server` surface, constant for every set of servers.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};
use types::EntryBounds;

use super::arguments::SHORTEST_MS;

pub(super) const EXECUTE: &str = "shell_exec";
pub(super) const BROWSE: &str = "fs_browse";
pub(super) const READ: &str = "fs_read";
pub(super) const WRITE: &str = "fs_write";

/// The tools; `longest_ms` is the upper bound of `timeout_ms`.
pub(super) fn tools(longest_ms: u64, entries: EntryBounds) -> Vec<Tool> {
    let path = |text: &str| json!({"type": "string", "description": text});
    vec![
        tool(
            EXECUTE,
            "Run Python or TypeScript in a sandbox: `await tools.<server>.<tool>({...})` calls tools, whose stubs are files below \
             /tools; /scratch and /results are writable. Without `language`, one line of ls, cat, grep, rg or jq, also with \
             pipes, reads these files.",
            &json!({
                "type": "object",
                "properties": {
                    "code": {"type": "string"},
                    "language": {"type": "string", "enum": ["typescript", "python"]},
                    "timeout_ms": {"type": "integer", "minimum": SHORTEST_MS, "maximum": longest_ms},
                    "stream": {"type": "boolean", "description": "Ignored."},
                },
                "required": ["code"],
            }),
        ),
        tool(
            BROWSE,
            "List a directory of /tools, /scratch, /skills or /results.",
            &json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "default": "/tools"},
                    "include_hidden": {"type": "boolean", "default": false},
                    "max_entries": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": entries.most,
                        "default": entries.usual,
                    },
                },
            }),
        ),
        tool(
            READ,
            "Read a text file below /tools, /scratch, /skills or /results.",
            &json!({
                "type": "object",
                "properties": {"path": path("Such as /tools/<server>/<tool>.py.")},
                "required": ["path"],
            }),
        ),
        tool(
            WRITE,
            "Write a text file below /scratch or /results, with the directories above it.",
            &json!({
                "type": "object",
                "properties": {"path": path("Such as /scratch/data.json."), "content": {"type": "string"}},
                "required": ["path", "content"],
            }),
        ),
    ]
}

fn tool(name: &'static str, description: &'static str, schema: &Value) -> Tool {
    let schema: JsonObject = schema.as_object().cloned().unwrap_or_default();
    Tool::new(name, description, Arc::new(schema))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_sent_little() {
        let sent: Vec<Value> = tools(300_000, EntryBounds::default())
            .iter()
            .map(|tool| {
                json!({"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema})
            })
            .collect();
        let sent = serde_json::to_string_pretty(&sent).unwrap();
        let compact: Value = serde_json::from_str(&sent).unwrap();
        let table = tiktoken_rs::o200k_base().unwrap();
        let tokens = table.encode_ordinary(&compact.to_string()).len();
        assert!(tokens <= 500, "{tokens} tokens");
        insta::assert_snapshot!(sent);
    }
}
