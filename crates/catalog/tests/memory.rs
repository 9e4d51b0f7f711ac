//! Measures the memory of hostile schemas' compiled checks from outside: this process does nothing else.

use std::sync::Arc;

use catalog::{ArgumentValidator, Catalog};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};
use test_support::status_field;
use types::{ServerTools, Tool};

/// On one server.
const TOOLS: usize = 40;
/// Bytes for the checks of all tools, each with a definition of about 1 KB.
const MOST: u64 = 16 * 1024 * 1024;

/// Each of four parts names the next one nine times.
fn fanned(number: usize) -> Value {
    let part = |level: usize| {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        let properties: Map<String, Value> = (0..9).map(|n| (format!("p{n}"), next.clone())).collect();
        (
            format!("d{level}"),
            json!({"type": "object", "properties": properties}),
        )
    };
    let mut parts: Map<String, Value> = (0..5).map(part).collect();
    parts.insert("d5".to_owned(), json!({"type": "integer"}));
    json!({"name": format!("tool_{number}"), "inputSchema": {"$defs": parts, "$ref": "#/$defs/d0"}})
}

fn resident() -> u64 {
    let field = status_field(std::process::id(), "VmRSS").expect("a figure");
    let kibibytes = field.split_whitespace().next().expect("a number");
    kibibytes.parse::<u64>().expect("a number") * 1024
}

#[test]
fn checks_of_fanned_references_take_little_memory() {
    let tool = |number| {
        let definition = to_raw_value(&fanned(number)).expect("JSON");
        Arc::new(Tool::parse(definition).expect("a definition"))
    };
    let server = ServerTools {
        name: "fanned".to_owned(),
        description: None,
        cwd: None,
        tools: Some((0..TOOLS).map(tool).collect()),
    };
    let catalog = Catalog::build(&[server]);
    let before = resident();
    let checks: Vec<ArgumentValidator> = catalog.entries().map(|entry| entry.check()).collect();
    let grown = resident().saturating_sub(before);
    assert_eq!(checks.len(), TOOLS);
    assert!(grown < MOST, "{grown} bytes");
}
