//! Hostile, contradictory, huge and random schemas and names.

use std::path::Path;
use std::sync::Arc;

use catalog::Catalog;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use types::{ServerTools, Tool};

use super::{assert_inert, objections, parsed, server, tool, written};

/// Would be code outside a literal or comment; its parts are not names of types or parameters.
const CANARY: &str = "canary()";

/// One line of the file: definitions, or one definition as a text that need not be JSON.
#[derive(serde::Deserialize)]
struct Case {
    why: String,
    #[serde(default)]
    tools: Vec<Box<RawValue>>,
    raw: Option<String>,
}

/// One server per line of `schemas/hostile.jsonl`, without tools that nobody would list.
fn hostile() -> Vec<ServerTools> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../test-support/schemas/hostile.jsonl");
    let text = std::fs::read_to_string(file).expect("the schemas of test-support");
    let case = |line: &str| {
        let mut case: Case = serde_json::from_str(line).expect("a case");
        case.tools
            .extend(case.raw.and_then(|raw| RawValue::from_string(raw).ok()));
        let tools = case
            .tools
            .into_iter()
            .filter_map(|tool| Tool::parse(tool).ok().map(Arc::new));
        server(&case.why, &format!("{CANARY} {}", case.why), tools.collect())
    };
    text.lines().map(case).collect()
}

/// Too large for a file.
fn huge() -> ServerTools {
    let mut deep = json!({"type": "string"});
    for _ in 0..55 {
        deep = json!({"type": "object", "properties": {"inner": deep}, "required": ["inner"]});
    }
    let many: Map<String, Value> = (0..4_900)
        .map(|n| (format!("key_{n}"), json!({"type": "integer"})))
        .collect();
    let many = json!({"type": "object", "properties": many});
    let fan: Map<String, Value> = (0..30)
        .map(|n| (format!("d{n}"), json!({"properties": {"a": {"$ref": format!("#/$defs/d{}", n + 1)}, "b": {"$ref": format!("#/$defs/d{}", n + 1)}}})))
        .collect();
    let text = format!("{CANARY} ").repeat(100_000);
    server(
        "huge",
        &text,
        vec![
            tool("deep", "", json!({"properties": {"deep": deep}})),
            tool("many", "", many.clone()),
            tool("many_below", "", json!({"properties": {"below": many}})),
            tool(
                "doubling",
                "",
                json!({"properties": {"d": {"$ref": "#/$defs/d0"}}, "$defs": fan}),
            ),
            tool(
                "long_text",
                &text,
                json!({"properties": {"a": {"type": "string", "description": text, "default": text}}}),
            ),
            parsed(
                json!({"name": "n".repeat(10_000), "inputSchema": {}, "outputSchema": {"type": "object", "properties": {"x".repeat(100_000): {}}}}),
            ),
        ],
    )
}

#[test]
fn hostile_schemas_give_inert_declarations() {
    let mut servers = hostile();
    assert!(servers.len() >= 40);
    servers.push(huge());
    let catalog = Catalog::build(&servers);
    let directory = written(&catalog);
    // Every name becomes a file name, and no two are the same.
    assert_inert(directory.path(), catalog.entries().count() + servers.len());
    assert_eq!(objections(directory.path()), "");
    assert_no_canary(&directory.path().join("typescript"));
}

/// No declaration holds a call outside of comments and literals.
fn assert_no_canary(directory: &Path) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            assert_no_canary(&path);
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("text");
        let code = without_literals(&text);
        assert!(
            !code.contains(CANARY) && !code.contains("import "),
            "{}: {code}",
            path.display()
        );
        let is_plain = |c: char| c.is_ascii_graphic() || c == ' ' || c == '\n';
        assert!(code.chars().all(is_plain), "{}: {code}", path.display());
    }
}

/// TypeScript without comments and without text in double quotes.
fn without_literals(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '/']) {
        code.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = if let Some(literal) = rest.strip_prefix('"') {
            let mut escaped = false;
            let end = literal.find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            end.expect("an end of the literal") + 2
        } else {
            assert!(rest.starts_with("/**"), "{rest}");
            rest.find("*/").expect("an end of the comment") + 2
        };
        rest = &rest[length..];
    }
    code + rest
}

/// Names with every character that has a meaning somewhere.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z_]{1,6}",
        ".{0,8}",
        r#"["'\\`${}*/()\n\r -]{1,6}"#,
        proptest::sample::select(vec![
            "class",
            "self",
            "str",
            "list",
            "Any",
            "Literal",
            "TypedDict",
            "__init__",
            "__debug__",
            "arguments",
            "Arguments",
            "Result",
            "args",
            "kwargs",
            "others",
            "tool",
            "dict",
            "index",
            "delete",
            "constructor",
            "__proto__",
            "Promise",
            "Record",
            "",
        ])
        .prop_map(str::to_owned),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        proptest::sample::select(vec![
            "string", "integer", "number", "boolean", "null", "array", "object", "odd"
        ])
        .prop_map(|name| json!({"type": name})),
        proptest::collection::vec(any::<Option<i64>>(), 0..4).prop_map(|values| json!({"enum": values})),
        proptest::collection::vec(name(), 1..4)
            .prop_map(|values| json!({"enum": values, "default": values[0]})),
        name().prop_map(|value| json!({"const": value, "description": value})),
        Just(json!({"$ref": "#/$defs/one"})),
        Just(json!({"$ref": "#/$defs/t\u{77}o"})),
        Just(json!({"$ref": "#"})),
        any::<bool>().prop_map(Value::Bool),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            inner
                .clone()
                .prop_map(|items| json!({"type": "array", "items": items})),
            inner
                .clone()
                .prop_map(|values| json!({"type": "object", "additionalProperties": values})),
            proptest::collection::vec(inner.clone(), 0..4).prop_map(|all| json!({"anyOf": all})),
            proptest::collection::vec(inner.clone(), 0..3).prop_map(|all| json!({"allOf": all})),
            (
                proptest::collection::hash_map(name(), inner, 0..5),
                proptest::collection::vec(name(), 0..2)
            )
                .prop_map(|(properties, mut required)| {
                    required.extend(properties.keys().take(2).cloned());
                    json!({"type": "object", "properties": properties, "required": required})
                }),
        ]
    })
}

fn definition() -> impl Strategy<Value = Value> {
    let properties = || proptest::collection::hash_map(name(), schema(), 0..5);
    (
        name(),
        ".{0,20}",
        properties(),
        schema(),
        schema(),
        proptest::option::of(properties()),
    )
        .prop_map(|(name, description, properties, one, two, output)| {
            let defs = json!({"one": one, "two": two});
            let mut definition = json!({
                "name": name,
                "description": description,
                "inputSchema": {"type": "object", "properties": properties, "$defs": defs},
            });
            if let Some(properties) = output {
                definition["outputSchema"] =
                    json!({"type": "object", "properties": properties, "$defs": defs});
            }
            definition
        })
}

#[test]
fn random_schemas_give_inert_declarations() {
    let mut runner = TestRunner::deterministic();
    let mut tools = Vec::new();
    for _ in 0..400 {
        let definition = definition()
            .new_tree(&mut runner)
            .expect("a definition")
            .current();
        tools.push(parsed(definition));
    }
    let catalog = Catalog::build(&[server("random", "", tools)]);
    let directory = written(&catalog);
    assert_inert(directory.path(), catalog.entries().count() + 1);
    assert_eq!(objections(directory.path()), "");
}
