//! The size of a compiled check is bounded, whatever its schema.

use serde_json::{Value, json};

use super::super::lower;
use super::ArgumentValidator;

/// Each of `defs` parts names the next one `fan` times.
fn fanned(defs: usize, fan: usize) -> Value {
    let mut parts: serde_json::Map<String, Value> = (0..defs)
        .map(|i| {
            let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
            let properties = (0..fan).map(|n| (format!("p{n}"), next.clone()));
            let properties: serde_json::Map<String, Value> = properties.collect();
            (
                format!("d{i}"),
                json!({"type": "object", "properties": properties}),
            )
        })
        .collect();
    parts.insert(format!("d{defs}"), json!({"type": "integer"}));
    json!({"$defs": parts, "properties": {"a": {"$ref": "#/$defs/d0"}}})
}

#[test]
fn a_shared_part_is_compiled_once() {
    let schema = fanned(4, 8);
    let check = ArgumentValidator::compile(&schema);
    // Written out for each reference, there are more than 7,000 parts.
    assert!(check.size < 150, "{}", check.size);
    assert!(check.nodes > 7_000, "{}", check.nodes);
    assert_eq!(check.notes, [""; 0]);
    let deep = |value: Value| json!({"a": {"p7": {"p0": {"p3": {"p4": value}}}}});
    assert_eq!(check.run(|| schema.clone(), &deep(json!(1))), Ok(()));
    let wrong = check
        .run(|| schema.clone(), &deep(json!("x")))
        .expect_err("wrong");
    assert_eq!(
        wrong.to_string(),
        "argument 'a.p7.p0.p3.p4' must be int, not str 'x'"
    );
}

#[test]
fn parts_below_a_long_name_are_bounded_by_the_bytes_of_their_paths() {
    let parts: serde_json::Map<String, Value> = (0..2_000).map(|n| (format!("p{n}"), json!({}))).collect();
    let schema = json!({"properties": {"k".repeat(16 * 1024): {"properties": parts}}});
    let check = ArgumentValidator::compile(&schema);
    assert!(check.size < lower::MAX_SIZE + 200, "{}", check.size);
    assert_eq!(check.notes, ["parts beyond the bounds of depth and size"]);
}
