//! What the cache of checks keeps and what it drops.

use catalog::Catalog;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use types::ServerTools;

use super::*;

fn entries(schemas: impl Iterator<Item = Value>) -> Vec<Arc<Entry>> {
    let tool = |(number, schema): (usize, Value)| {
        let definition = json!({"name": format!("tool_{number}"), "inputSchema": schema});
        Arc::new(Tool::parse(to_raw_value(&definition).expect("JSON")).expect("a definition"))
    };
    let server = ServerTools {
        name: "stub".to_owned(),
        description: None,
        cwd: None,
        tools: Some(schemas.enumerate().map(tool).collect()),
    };
    Catalog::build(&[server]).entries().cloned().collect()
}

fn wide(parts: usize) -> Value {
    let properties: serde_json::Map<String, Value> = (0..parts)
        .map(|number| (format!("p{number}"), json!({})))
        .collect();
    json!({"type": "object", "properties": properties})
}

#[test]
fn a_check_is_compiled_once_while_it_is_kept() {
    let checks = Checks::default();
    let entry = &entries([wide(3)].into_iter())[0];
    assert!(checks.ready(entry).is_none());
    let check = checks.of(entry);
    let again = checks.ready(entry).expect("it is kept");
    assert!(Arc::ptr_eq(&check, &again) && Arc::ptr_eq(&check, &checks.of(entry)));
}

#[test]
fn all_checks_together_are_bounded_and_the_oldest_goes_first() {
    let checks = Checks::default();
    let entries = entries((0..12).map(|_| wide(5_000)));
    for entry in &entries {
        checks.of(entry);
        // The first check is used all the time.
        assert!(checks.ready(&entries[0]).is_some());
        let kept = checks.kept();
        assert!(kept.nodes <= MAX_NODES, "{}", kept.nodes);
        let sizes = kept.checks.values().map(|kept| kept.check.size());
        assert_eq!(kept.nodes, sizes.sum::<usize>());
    }
    let is_kept = |entry: &&Arc<Entry>| checks.ready(entry).is_some();
    let kept: Vec<&str> = entries
        .iter()
        .filter(is_kept)
        .map(|entry| entry.alias.as_str())
        .collect();
    assert_eq!(kept, ["tool_0", "tool_9", "tool_10", "tool_11"]);
}
