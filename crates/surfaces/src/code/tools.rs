//! The two tools of the `code` surface and its instructions: fixed text plus server names.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use crate::truncate;

pub(super) const EXECUTE: &str = "execute_code";

pub(super) const SEARCH: &str = "search_tools";

/// The server's `instructions`, which a client may show its model.
pub(super) const INSTRUCTIONS: &str = "Find tools with search_tools; make many calls in one execute_code.";

const EXECUTE_DESCRIPTION: &str = "Run Python or TypeScript: `await tools.<server>.<tool>(arg=value)`; \
    bash: `mcp call server.tool a=1`; results may be text. No network. Return only what you need; \
    show(x) returns images, files in /results are listed. Manual: `print(runtime.manual())`";

const SEARCH_DESCRIPTION: &str = "Find tools and their signatures.";

/// Estimated tokens that server names may take.
const NAME_TOKENS: usize = 100;

/// Both tools in listed order. The description lists the first `servers` that fit the token limit, in their order.
pub(super) fn tools(servers: &[String]) -> Vec<Tool> {
    let search = match server_sentence(servers) {
        Some(sentence) => format!("{SEARCH_DESCRIPTION} {sentence}"),
        None => SEARCH_DESCRIPTION.to_owned(),
    };
    vec![
        Tool::new(
            EXECUTE,
            EXECUTE_DESCRIPTION,
            schema(json!({
                "type": "object",
                "properties": {
                    "code": {"type": "string"},
                    "language": {"enum": ["python", "typescript", "shell"]},
                    "session": {"type": "string"},
                    "timeout_ms": {"type": "integer"},
                },
                "required": ["code"],
            })),
        ),
        Tool::new(
            SEARCH,
            search,
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

/// The sentence about the servers; `None` without servers.
fn server_sentence(servers: &[String]) -> Option<String> {
    let naming = |count: usize| {
        let names = servers[..count].join(", ");
        match servers.len() - count {
            0 => format!("Servers: {names}."),
            more if count == 0 => format!("There are {more} servers."),
            more => format!("Servers: {names} and {more} more."),
        }
    };
    if servers.is_empty() {
        return None;
    }
    // Each name takes at least one token.
    let mut sentences = (0..=servers.len().min(NAME_TOKENS)).rev().map(naming);
    sentences.find(|sentence| truncate::estimated_tokens(sentence.as_bytes()) <= NAME_TOKENS)
}

fn schema(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::default(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The text that a model receives: the tools as JSON, and the instructions.
    fn sent(servers: &[&str]) -> String {
        let servers: Vec<String> = servers.iter().copied().map(str::to_owned).collect();
        let tools: Vec<Value> = tools(&servers)
            .into_iter()
            .map(|tool| json!({"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}))
            .collect();
        format!("{}\n{INSTRUCTIONS}", Value::from(tools))
    }

    fn counted(text: &str) -> usize {
        tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
    }

    #[test]
    fn a_model_is_sent_at_most_200_tokens_beside_names() {
        // Even the whole listing must be only slightly longer.
        let listed = format!("{}\n{INSTRUCTIONS}", serde_json::to_string(&tools(&[])).unwrap());
        let (sent, listed) = (counted(&sent(&[])), counted(&listed));
        assert!(sent <= 200 && listed <= 200, "{sent} and {listed} tokens");
    }

    #[test]
    fn what_a_model_is_sent() {
        insta::assert_snapshot!(sent(&["git", "time"]));
    }

    fn check_named(servers: usize, expected: &str) {
        let names: Vec<String> = (0..servers).map(|number| format!("server_{number:03}")).collect();
        let sentence = server_sentence(&names).unwrap_or_default();
        assert!(sentence.ends_with(expected), "{sentence}");
    }

    #[test]
    fn what_has_no_room_is_counted() {
        check_named(0, "");
        check_named(1, "Servers: server_000.");
        check_named(3, "Servers: server_000, server_001, server_002.");
        check_named(50, " and 32 more.");
        check_named(2000, " and 1982 more.");
    }

    proptest! {
        #[test]
        fn names_of_servers_take_at_most_100_tokens(names in proptest::collection::vec("[a-z0-9_]{1,120}|_{1,120}|[0-9]{1,120}", 0..60)) {
            let sentence = server_sentence(&names).unwrap_or_default();
            prop_assert!(counted(&sentence) <= NAME_TOKENS, "{sentence}");
        }
    }
}
