//! Signatures of good, odd and hostile schemas.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// The signature of `f` with a result of this schema, or without a declared result.
fn line_of(input: &Value, output: Option<&Value>) -> String {
    let returned = output.map_or(Returned::Type(&Type::Answer), Returned::Schema);
    signature("f", input, returned)
}

fn check(input: Value, output: Option<Value>, expected: &str) {
    assert_eq!(line_of(&input, output.as_ref()), expected, "{input}");
}

/// Checks the type of one required parameter.
fn check_type(schema: Value, expected: &str) {
    check(
        json!({"type": "object", "properties": {"a": schema}, "required": ["a"]}),
        None,
        &format!("f(a: {expected}) -> Text"),
    );
}

#[test]
fn a_typical_tool() {
    let input = json!({
        "type": "object",
        "properties": {
            "labels": {"type": "array", "items": {"type": "string"}},
            "owner": {"type": "string"},
            "state": {"enum": ["open", "closed"], "default": "open"},
            "limit": {"type": "integer", "default": 30},
            "dry": {"type": "boolean", "default": false},
        },
        "required": ["owner"],
    });
    let output = json!({"type": "object", "properties": {"number": {"type": "integer"}, "url": {"type": "string"}},
        "required": ["number", "url"]});
    check(
        input,
        Some(output),
        "f(owner: str, labels: list[str] = …, state: Literal['open', 'closed'] = 'open', limit: int = 30, \
         dry: bool = False) -> {number: int, url: str}",
    );
}

#[test]
fn simple_types() {
    check_type(json!({"type": "string"}), "str");
    check_type(json!({"type": "number"}), "float");
    check_type(json!({"type": "null"}), "None");
    check_type(json!({"type": "object"}), "dict");
    check_type(
        json!({"type": "object", "additionalProperties": {"type": "integer"}}),
        "dict[str, int]",
    );
    check_type(json!({"type": "array"}), "list");
    check_type(json!({"type": "array", "items": {}}), "list");
    check_type(json!({"type": ["null", "string"]}), "str | None");
    check_type(json!({"const": 3}), "Literal[3]");
    check_type(
        json!({"enum": [true, null, 2, "it's"]}),
        "Literal[True, None, 2, 'it\\'s']",
    );
    check_type(
        json!({"anyOf": [{"type": "null"}, {"type": "integer"}, {"type": "integer"}]}),
        "int | None",
    );
    check_type(json!({"anyOf": [{}, {"type": "integer"}]}), "Any");
    check_type(
        json!({"allOf": [{"description": "no type"}, {"type": "string"}]}),
        "str",
    );
    check_type(json!({}), "Any");
    check_type(json!(true), "Any");
    check_type(json!({"type": "strange"}), "Any");
}

#[test]
fn nested_objects_are_written_out_while_the_line_is_short() {
    let item = json!({"type": "object", "properties": {"x": {"type": "number"}, "note": {"type": "string"}},
        "required": ["x"]});
    check_type(
        json!({"type": "array", "items": item}),
        "list[{x: float, note?: str}]",
    );

    let wide: serde_json::Map<String, Value> = (0..40)
        .map(|i| (format!("a_rather_long_name_{i}"), json!({"type": "string"})))
        .collect();
    check_type(json!({"type": "object", "properties": wide.clone()}), "dict");
    let line = line_of(
        &json!({"properties": wide, "required": ["a_rather_long_name_39"]}),
        None,
    );
    assert!(line.starts_with("f(a_rather_long_name_39: str, "), "{line}");
    assert!(
        line.ends_with(", …) -> Text") && line.len() <= GOOD_LENGTH + 20,
        "{line}"
    );
}

#[test]
fn required_parameters_are_never_left_out() {
    let names: Vec<String> = (0..60).map(|i| format!("a_rather_long_name_{i}")).collect();
    let properties: serde_json::Map<String, Value> = names
        .iter()
        .map(|name| (name.clone(), json!({"type": "string"})))
        .collect();
    let line = line_of(&json!({"properties": properties, "required": names}), None);
    assert!(
        names.iter().all(|name| line.contains(&format!("{name}: str"))),
        "{line}"
    );
}

#[test]
fn a_required_parameter_that_is_not_described_is_shown() {
    check(
        json!({"type": "object", "required": ["x"]}),
        None,
        "f(x: Any) -> Text",
    );
}

#[test]
fn a_default_is_shown_if_it_is_of_the_type() {
    let one = |schema: Value, expected: &str| {
        check(
            json!({"properties": {"b": schema}}),
            None,
            &format!("f(b: {expected}) -> Text"),
        );
    };
    one(json!({"type": "string", "default": null}), "str = …");
    one(json!({"type": "integer", "default": "1"}), "int = …");
    one(
        json!({"type": ["string", "null"], "default": null}),
        "str | None = None",
    );
    one(json!({"default": 5}), "Any = 5");
    one(
        json!({"enum": ["a", "b"], "default": "c"}),
        "Literal['a', 'b'] = …",
    );
    one(json!({"type": "string", "default": "a".repeat(50)}), "str = …");
}

#[test]
fn names_that_python_does_not_take_are_quoted() {
    let input = json!({"properties": {"resource-group": {"type": "string"}, "from": {"type": "string"}, "a\n'b": {}},
        "required": ["resource-group", "from", "a\n'b"]});
    check(
        input,
        None,
        "f('resource-group': str, 'from': str, 'a\\n\\'b': Any) -> Text",
    );
}

#[test]
fn references_are_followed_inside_the_schema_only() {
    let input = json!({
        "properties": {
            "node": {"$ref": "#/$defs/node"},
            "far": {"$ref": "https://example.com/schema.json"},
            "same": {"$ref": "#/properties/far"},
        },
        "required": ["node", "far", "same"],
        "$defs": {"node": {"type": "object", "properties": {
            "name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}},
    });
    check(
        input,
        None,
        "f(node: {name?: str, children?: list[{name?: str, children?: list[{name?: str, children?: list[dict]}]}]}, \
         far: Any, same: Any) -> Text",
    );
}

#[test]
fn endless_schemas_end() {
    let list = json!({"type": "array", "items": {"$ref": "#"}, "properties": {"a": {"$ref": "#"}}});
    let line = line_of(&list, None);
    assert!(
        line.starts_with("f(a: list[list[") && line.len() < GOOD_LENGTH,
        "{line}"
    );

    // Each level refers to the next twice: without a bound, two to the power of 60 nodes.
    let mut defs = serde_json::Map::new();
    for i in 0..60 {
        let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
        defs.insert(
            format!("d{i}"),
            json!({"anyOf": [{"type": "array", "items": next}, {"type": "array", "items": next}]}),
        );
    }
    let input = json!({"$defs": defs, "properties": {"a": {"$ref": "#/$defs/d0"}}});
    let line = line_of(&input, Some(&input));
    assert!(line.len() < 2 * GOOD_LENGTH, "{line}");
}

#[test]
fn schemas_that_are_none_give_a_signature_all_the_same() {
    for odd in [
        json!(null),
        json!(true),
        json!([]),
        json!("x"),
        json!({"properties": []}),
        json!({"type": 5}),
    ] {
        check(odd, None, "f() -> Text");
    }
    check(json!({}), Some(json!(null)), "f() -> Any");
}

/// Arbitrary JSON in which keywords of JSON Schema are frequent.
fn schema() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just("type"),
        Just("properties"),
        Just("items"),
        Just("anyOf"),
        Just("allOf"),
        Just("enum"),
        Just("$ref"),
        Just("required"),
        Just("default"),
        Just("additionalProperties"),
        Just("const"),
        Just("$defs"),
        Just("a"),
    ];
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        prop_oneof![
            Just("string"),
            Just("object"),
            Just("array"),
            Just("#"),
            Just("#/properties/a"),
            Just("#/$defs/a")
        ]
        .prop_map(Value::from),
        ".{0,30}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((word.clone(), inner), 0..6).prop_map(|members| {
                Value::Object(
                    members
                        .into_iter()
                        .map(|(key, value)| (key.to_owned(), value))
                        .collect(),
                )
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_schema_gives_one_line_without_control_characters(input in schema(), output in schema()) {
        let line = line_of(&input, Some(&output));
        prop_assert!(line.starts_with("f(") && line.contains(") -> "));
        prop_assert!(!line.chars().any(char::is_control), "{line:?}");
        prop_assert!(line.len() <= 10 * GOOD_LENGTH, "{} characters", line.len());
    }
}
