//! Checks of arguments: accepted arguments, messages for the others, and the cost of hostile
//! schemas.

mod size;

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn check(schema: &Value, arguments: Value, expected: &str) {
    let check = ArgumentValidator::compile(schema);
    assert_eq!(check.notes, [""; 0], "{schema}");
    let said = check
        .run(|| schema.clone(), &arguments)
        .map_or_else(|error| error.to_string(), |()| "ok".to_owned());
    assert_eq!(said, expected, "{arguments}");
}

fn issue() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "owner": {"type": "string", "minLength": 1},
            "title": {"type": "string"},
            "labels": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
            "state": {"type": "string", "enum": ["open", "closed"]},
            "count": {"type": "integer", "minimum": 1, "maximum": 100},
            "where": {"type": "object", "properties": {"line": {"type": "integer"}}, "required": ["line"],
                      "additionalProperties": false},
            "id": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        },
        "required": ["owner", "title"],
        "additionalProperties": false,
    })
}

#[test]
fn right_arguments_pass() {
    check(&issue(), json!({"owner": "a", "title": "b"}), "ok");
    check(
        &issue(),
        json!({"owner": "a", "title": "b", "labels": ["x"], "state": "open", "count": 1.0, "where": {"line": 3}, "id": 7}),
        "ok",
    );
}

#[test]
fn missing_and_unknown_arguments_are_named() {
    check(
        &issue(),
        json!({"owner": "a"}),
        "missing required argument 'title': str",
    );
    check(
        &issue(),
        json!({}),
        "missing required argument 'owner': str; missing required argument 'title': str",
    );
    check(
        &issue(),
        json!({"owner": "a", "titel": "b"}),
        "missing required argument 'title': str; unknown argument 'titel'; did you mean 'title'?",
    );
    let open = json!({"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]});
    check(
        &open,
        json!({"titel": "b"}),
        "missing required argument 'title': str ('titel' is not a parameter of this tool)",
    );
    check(
        &open,
        json!({"zzz": "b"}),
        "missing required argument 'title': str",
    );
    check(
        &issue(),
        json!({"owner": "a", "title": "b", "zzz": 1}),
        "unknown argument 'zzz'; the tool takes 'owner', 'title', 'labels', 'state', 'count', 'where', 'id'",
    );
    check(
        &json!({"type": "object", "properties": {}, "additionalProperties": false}),
        json!({"a": 1}),
        "unknown argument 'a'; the tool takes no arguments",
    );
}

#[test]
fn wrong_types_name_parameter_expectation_and_what_was_given() {
    let with = |name: &str, value: Value| {
        let mut arguments = json!({"owner": "a", "title": "b"});
        arguments[name] = value;
        arguments
    };
    let check = |name, value, expected: &str| check(&issue(), with(name, value), expected);
    check("title", json!(3), "argument 'title' must be str, not int 3");
    check(
        "labels",
        json!("bug"),
        "argument 'labels' must be list[str], not str 'bug'",
    );
    check(
        "labels",
        json!(["a", {"b": 1}]),
        "argument 'labels[1]' must be str, not dict",
    );
    check(
        "labels",
        json!(["a", "b", "c", "d"]),
        "argument 'labels' must have at most 3 items, not list",
    );
    check(
        "labels",
        json!(null),
        "argument 'labels' must be list[str], not None; leave it out if there is none",
    );
    check(
        "state",
        json!("opne"),
        "argument 'state' must be one of 'open', 'closed' (nearest: 'open'), not str 'opne'",
    );
    check(
        "count",
        json!(0),
        "argument 'count' must be at least 1, not int 0",
    );
    check("count", json!(1.5), "argument 'count' must be int, not float 1.5");
    check(
        "owner",
        json!(""),
        "argument 'owner' must have at least 1 characters, not str ''",
    );
    check("where", json!({}), "argument 'where' lacks 'line'");
    check(
        "where",
        json!({"line": 1, "x": 2}),
        "argument 'where' has an unknown key 'x'",
    );
    check(
        "where",
        json!({"line": "1"}),
        "argument 'where.line' must be int, not str '1'",
    );
    check(
        "id",
        json!(true),
        "argument 'id' must be str | int, not bool True",
    );
}

#[test]
fn the_alternative_that_fits_best_speaks() {
    let schema = json!({
        "type": "object",
        "properties": {"to": {"oneOf": [
            {"type": "string"},
            {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
        ]}},
        "required": ["to"],
    });
    check(
        &schema,
        json!({"to": {}}),
        "argument 'to' must have 'id', not dict",
    );
    check(
        &schema,
        json!({"to": {"id": "x"}}),
        "argument 'to' must have a value in argument 'to.id' that must be int, not dict",
    );
    check(
        &schema,
        json!({"to": 5}),
        "argument 'to' must be str | {id: int}, not int 5",
    );
    let either = json!({"type": "object", "properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
    check(&either, json!({}), "the arguments must have 'a', not dict");
}

#[test]
fn arguments_are_one_mapping() {
    check(
        &json!({}),
        json!([1]),
        "the arguments must be one mapping of names to values, not list",
    );
    check(
        &json!(true),
        json!(null),
        "the arguments must be one mapping of names to values, not None",
    );
}

#[test]
fn long_lists_of_problems_are_cut() {
    let names: Vec<String> = (0..10).map(|i| format!("p{i}")).collect();
    let schema = json!({"type": "object", "required": names});
    check(
        &schema,
        json!({}),
        "missing required argument 'p0': Any; missing required argument 'p1': Any; missing required argument 'p2': Any; and 7 more",
    );
}

#[test]
fn of_very_long_arguments_the_first_problem_is_named() {
    let schema =
        json!({"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "integer"}}}});
    check(
        &schema,
        json!({"rows": vec!["x"; 200_000]}),
        "argument 'rows[0]' must be int, not str 'x'",
    );
    let names: serde_json::Map<String, Value> =
        (0..200_000).map(|i| (format!("name{i}"), json!(1))).collect();
    let schema = json!({"type": "object", "properties": {"title": {}}, "required": ["title"]});
    check(
        &schema,
        Value::Object(names),
        "missing required argument 'title': Any",
    );
}

/// Checks which parts of a schema are left out, and that the rest still holds.
fn check_notes(schema: Value, notes: &[&str], passes: &[Value], fails: &[Value]) {
    let check = ArgumentValidator::compile(&schema);
    assert_eq!(check.notes, notes, "{schema}");
    for arguments in passes {
        assert_eq!(
            check.run(|| schema.clone(), arguments),
            Ok(()),
            "{schema} {arguments}"
        );
    }
    for arguments in fails {
        assert!(
            check.run(|| schema.clone(), arguments).is_err(),
            "{schema} {arguments}"
        );
    }
}

#[test]
fn what_cannot_be_checked_is_left_out_and_the_rest_holds() {
    let a_is_text = [json!({"a": 1})];
    check_notes(
        json!({"properties": {"a": {"type": "string"}, "b": {"$ref": "https://example.com/b.json"}}}),
        &["the reference 'https://example.com/b.json', which is not inside the schema"],
        &[json!({"a": "x", "b": 5})],
        &a_is_text,
    );
    check_notes(
        json!({"properties": {"a": {"type": "string", "pattern": "(?=look)ahead"}}}),
        &["a 'pattern' that is not understood"],
        &[json!({"a": "x"})],
        &a_is_text,
    );
    check_notes(
        json!({"$schema": "https://example.com/own", "$id": "::", "properties": {"a": {"type": "string", "minLength": "2"}},
               "required": true, "x-own": {"$ref": 7}}),
        &[
            "a 'minLength' that is not understood",
            "a 'required' that is not understood",
        ],
        &[json!({"a": "x"})],
        &a_is_text,
    );
}

#[test]
fn leaving_out_never_forbids_more() {
    let far = || json!({"$ref": "https://example.com/x"});
    let note = ["the reference 'https://example.com/x', which is not inside the schema"];
    let anything = [json!({}), json!({"a": 1}), json!({"b": "x"})];
    for schema in [
        json!({"not": far()}),
        json!({"oneOf": [far(), {"type": "object"}]}),
        json!({"if": far(), "then": {"required": ["a"]}, "else": {"required": ["b"]}}),
        json!({"allOf": [far()], "unevaluatedProperties": false}),
        json!({"$ref": "https://example.com/x", "unevaluatedProperties": false}),
        json!({"not": {"anyOf": [{"properties": {"a": far()}}]}}),
    ] {
        check_notes(schema, &note, &anything, &[]);
    }
    check_notes(
        json!({"patternProperties": {"(?!x)": {}}, "additionalProperties": false}),
        &["a 'pattern' that is not understood"],
        &anything,
        &[],
    );
    check_notes(
        json!({"properties": 5, "additionalProperties": false}),
        &["a 'properties' that is not understood"],
        &anything,
        &[],
    );
}

#[test]
fn recursive_schemas_are_checked_some_levels_deep() {
    let schema = json!({
        "properties": {"tree": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {"type": "object", "properties": {"child": {"$ref": "#/$defs/node"}}}},
    });
    check_notes(
        schema,
        &["the deeper levels of recursive parts"],
        &[json!({"tree": {"child": {"child": {"child": {"child": {"child": {}}}}}}})],
        &[json!({"tree": 1}), json!({"tree": {"child": {"child": 1}}})],
    );
}

#[test]
fn draft_7_references_hide_their_siblings() {
    let schema = |dialect: &str| {
        json!({"$schema": dialect, "properties": {"a": {"$ref": "#/definitions/t", "maxLength": 1}},
               "definitions": {"t": {"type": "string"}}})
    };
    let long = [json!({"a": "long"})];
    check_notes(
        schema("http://json-schema.org/draft-07/schema#"),
        &[],
        &long,
        &[json!({"a": 1})],
    );
    check_notes(
        schema("https://json-schema.org/draft/2020-12/schema"),
        &[],
        &[json!({"a": "s"})],
        &long,
    );
}

/// Without references the schema would have two to the power of `levels` nodes.
fn laughs(levels: usize) -> Value {
    let mut defs = serde_json::Map::new();
    for i in 0..levels {
        let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
        defs.insert(format!("d{i}"), json!({"allOf": [next, next]}));
    }
    defs.insert(format!("d{levels}"), json!({"type": "object"}));
    json!({"$defs": defs, "$ref": "#/$defs/d0"})
}

#[test]
fn hostile_schemas_cost_little() {
    let mut deep = json!({"type": "string"});
    for _ in 0..120 {
        deep = json!({"type": "array", "items": deep});
    }
    let wide: serde_json::Map<String, Value> = (0..200_000)
        .map(|i| (format!("p{i}"), json!({"type": "string"})))
        .collect();
    let catastrophic = json!({"properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}});
    for (schema, arguments) in [
        (laughs(60), json!({})),
        (json!({"properties": {"a": deep}}), json!({"a": [[[[]]]]})),
        (json!({"properties": wide}), json!({"p1": "x"})),
        (catastrophic, json!({"a": "a".repeat(100_000)})),
        (
            json!({"properties": {"a": {"pattern": "(((a{99}){99}){99}){99}"}}}),
            json!({"a": "a"}),
        ),
        (json!({"$ref": "#"}), json!({})),
        (json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]}), json!({})),
    ] {
        let start = Instant::now();
        let check = ArgumentValidator::compile(&schema);
        assert_eq!(check.run(|| schema.clone(), &arguments), Ok(()));
        // Without bounds, each of these takes minutes or overflows the stack.
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
        assert!(check.nodes <= 2 * lower::MAX_NODES);
    }
}

#[test]
fn huge_arguments_for_a_huge_schema_are_refused() {
    let schema = laughs(60);
    let arguments = json!({"rows": vec![1; 1_000_000]});
    let error = ArgumentValidator::compile(&schema)
        .run(|| schema.clone(), &arguments)
        .expect_err("too much work");
    assert!(error.to_string().contains("more than can be checked"), "{error}");
    assert_eq!(
        ArgumentValidator::compile(&issue())
            .run(|| json!({"properties": {}}), &json!({"owner": "a", "title": "b"})),
        Ok(())
    );
}

#[test]
fn a_condition_behind_a_reference_is_still_a_condition() {
    let schema = json!({
        "properties": {"a": {}, "b": {}},
        "if": {"properties": {"a": {"const": 1}}},
        "then": {"$ref": "#/$defs/needs"},
        "$defs": {"needs": {"properties": {"b": {"type": "integer"}}}},
    });
    let check = ArgumentValidator::compile(&schema);
    let partial = |unknown: &[&str]| StaticArguments {
        arguments: [("a".to_owned(), json!(1)), ("b".to_owned(), json!("x"))]
            .into_iter()
            .collect(),
        unknown: unknown.iter().map(|name| vec![(*name).to_owned()]).collect(),
        open: Vec::new(),
    };
    let contradictions = |unknown: &[&str]| check.contradictions(|| schema.clone(), &partial(unknown));
    assert_eq!(contradictions(&[]).len(), 1);
    assert_eq!(contradictions(&["a"]), [""; 0]);
}

/// Schemas as servers write them, some of them broken.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!(false)),
        Just(json!({})),
        prop_oneof![
            Just("string"),
            Just("integer"),
            Just("object"),
            Just("array"),
            Just("null")
        ]
        .prop_map(|name| json!({ "type": name })),
        Just(json!({"enum": ["a", 1]})),
        Just(json!({"minLength": 2})),
        Just(json!({"pattern": "(?=a)"})),
        Just(json!({"minimum": "3"})),
        Just(json!({"$ref": "#/$defs/d"})),
        Just(json!({"$ref": "#/$defs/none"})),
        Just(json!({"$ref": "#"})),
        Just(json!({"required": ["a"]})),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let list = || proptest::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            inner.clone().prop_map(|s| json!({ "not": s })),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(i, t, e)| json!({"if": i, "then": t, "else": e})),
            list().prop_map(|s| json!({ "oneOf": s })),
            list().prop_map(|s| json!({ "anyOf": s })),
            (list(), inner.clone()).prop_map(|(s, u)| json!({"allOf": s, "unevaluatedProperties": u})),
            (inner.clone(), inner.clone())
                .prop_map(|(p, a)| json!({"properties": {"a": p}, "additionalProperties": a})),
            (inner.clone(), inner.clone()).prop_map(
                |(p, a)| json!({"patternProperties": {"a": p, "(?=b)": true}, "additionalProperties": a})
            ),
            (inner.clone(), inner.clone()).prop_map(|(p, i)| json!({"prefixItems": [p], "items": i})),
            inner
                .clone()
                .prop_map(|s| json!({"contains": s, "maxContains": 1})),
            (inner.clone(), inner.clone())
                .prop_map(|(r, s)| json!({"$ref": "#/$defs/d", "not": r, "propertyNames": s})),
        ]
    })
}

/// Values that these schemas may distinguish.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        Just(json!("a")),
        Just(json!("abc")),
        Just(json!(1)),
        Just(json!(2))
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::btree_map("[abc]", inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_a_schema_permits_its_check_permits(schema in schema(), def in schema(), value in value()) {
        let root = json!({"properties": {"v": schema}, "$defs": {"d": def}});
        let full = jsonschema::options().offline().build(&root);
        let arguments = json!({ "v": value });
        let check = ArgumentValidator::compile(&root);
        let result = check.run(|| root.clone(), &arguments);
        if let Ok(full) = full {
            // The original compiles unchanged, so its answer is right.
            if full.is_valid(&arguments) {
                prop_assert_eq!(result, Ok(()), "{}", root);
            } else if check.notes.is_empty() {
                prop_assert!(result.is_err(), "{}", root);
            }
        }
    }
}
