//! Types read from schemas.

use serde_json::json;

use super::*;

/// A schema's type and shapes in a short notation.
fn read(schema: &Value, depth: usize) -> String {
    let mut shapes = Shapes::default();
    let kind = ShapeReader::new(&mut shapes, schema, depth).read(schema, "Root");
    shapes.retain_used(std::iter::once(&kind));
    let mut lines = vec![text(&shapes, &kind)];
    for (_, shape) in shapes.iter() {
        let fields = shape.fields.iter().map(|field| {
            let mark = if field.required { "" } else { "?" };
            format!("{}{mark}: {}", field.name, text(&shapes, &field.kind))
        });
        lines.push(format!(
            "{} {{{}}}",
            shape.name,
            fields.collect::<Vec<_>>().join(", ")
        ));
    }
    lines.join("; ")
}

fn text(shapes: &Shapes, kind: &Type) -> String {
    match kind {
        Type::Shape(index) => shapes.name(*index).to_owned(),
        Type::List(item) => format!("[{}]", text(shapes, item)),
        Type::Map(value) => format!("<{}>", text(shapes, value)),
        Type::Literal(values) => Value::Array(values.clone()).to_string(),
        Type::Union(parts) => parts
            .iter()
            .map(|part| text(shapes, part))
            .collect::<Vec<_>>()
            .join("|"),
        plain => format!("{plain:?}"),
    }
}

fn check(schema: Value, expected: &str) {
    assert_eq!(read(&schema, 4), expected, "{schema}");
}

#[test]
fn scalars_lists_and_maps() {
    check(json!({"type": "string"}), "Text");
    check(json!({"type": ["null", "integer"]}), "Whole|Null");
    check(json!({"type": "array", "items": {"type": "number"}}), "[Number]");
    check(json!({"items": true}), "[Any]");
    check(
        json!({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "boolean"}}),
        "[Any]",
    );
    check(
        json!({"type": "object", "additionalProperties": {"type": "boolean"}}),
        "<Truth>",
    );
    check(json!({"type": "object"}), "<Any>");
    for nothing in [
        json!(true),
        json!(false),
        json!(7),
        json!({}),
        json!({"type": "file"}),
    ] {
        check(nothing, "Any");
    }
}

#[test]
fn values_that_can_be_named() {
    check(json!({"enum": ["a", 1, null, true, "a"]}), "[\"a\",1,null,true]");
    check(json!({"const": "a"}), "[\"a\"]");
    check(json!({"enum": [1.5, 2]}), "Number|Whole");
    check(json!({"enum": [{"a": 1}, [1]]}), "<Any>|[Any]");
    check(json!({"enum": []}), "Any");
    let many: Vec<usize> = (0..1_000).collect();
    check(json!({"enum": many}), "Whole");
    let more: Vec<usize> = (0..20_000).collect();
    check(json!({"enum": more}), "Any");
    check(
        json!({"anyOf": [{"const": "a"}, {"const": "b"}, {"type": "null"}]}),
        "[\"a\",\"b\"]|Null",
    );
    check(json!({"anyOf": [{"type": "string"}, {}]}), "Any");
}

#[test]
fn equal_shapes_are_one_and_clashing_names_are_not() {
    let point = |key: &str| json!({"type": "object", "properties": {key: {"type": "integer"}}});
    check(
        json!({"properties": {"from": point("x"), "to": point("x"), "To": point("y")}}),
        "Root; From {x?: Whole}; To {y?: Whole}; Root {from?: From, to?: From, To?: To}",
    );
    check(
        json!({"properties": {"a_b": point("x"), "aB": point("y"), "any": point("z")}}),
        "Root; AB {x?: Whole}; AB2 {y?: Whole}; AnyItem {z?: Whole}; Root {a_b?: AB, aB?: AB2, any?: AnyItem}",
    );
}

#[test]
fn shapes_that_take_any_other_key_are_told_apart() {
    let point =
        |others: Value| json!({"type": "object", "properties": {"x": {}}, "additionalProperties": others});
    let is_open = |others: Value| {
        let (mut shapes, schema) = (Shapes::default(), point(others));
        let _ = ShapeReader::new(&mut shapes, &schema, 4).read(&schema, "Root");
        shapes.iter().any(|(_, shape)| shape.open)
    };
    assert!(is_open(json!(true)) && is_open(json!({})));
    assert!(!is_open(json!(false)));
    check(
        json!({"properties": {"a": point(json!(false)), "b": point(json!(true))}}),
        "Root; A {x?: Any}; B {x?: Any}; Root {a?: A, b?: B}",
    );
}

#[test]
fn a_large_enumeration_is_read_once_however_often_it_is_referred_to() {
    let one = json!({"anyOf": vec![json!({"$ref": "#/$defs/e"}); 15]});
    let properties: Map<String, Value> = (0..250).map(|n| (format!("k{n}"), one.clone())).collect();
    for count in [9_999, 200_000] {
        let values: Vec<usize> = (0..count).collect();
        let schema = json!({"properties": properties, "$defs": {"e": {"enum": values}}});
        let start = std::time::Instant::now();
        read(&schema, 4);
        // Reading the values at each reference takes many times as long.
        assert!(start.elapsed().as_secs() < 2, "{count}: {:?}", start.elapsed());
    }
}

#[test]
fn recursion_is_a_name_and_depth_is_bounded() {
    check(
        json!({"$ref": "#/$defs/tree-node", "$defs": {"tree-node": {
            "properties": {"inner": {"type": "array", "items": {"$ref": "#/$defs/tree-node"}}},
        }}}),
        "TreeNode; TreeNode {inner?: [TreeNode]}",
    );
    check(
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}),
        "Any",
    );
    let nested = json!({"properties": {"a": {"properties": {"b": {"type": "string"}}}}});
    assert_eq!(read(&nested, 1), "Root; Root {a?: <Any>}");
    assert_eq!(read(&nested, 0), "<Any>");
}

#[test]
fn parts_that_hold_together_are_one_shape() {
    check(
        json!({"allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {}}, "required": ["b", "c"]}]}),
        "Root; Root {b: Any, c: Any, a?: Text}",
    );
}

#[test]
fn no_key_of_what_was_observed_is_sure() {
    let schema = json!({"properties": {"a": {"type": "string"}}, "required": ["a"]});
    let mut shapes = Shapes::default();
    let _ = ShapeReader::new(&mut shapes, &schema, 4)
        .observed()
        .read(&schema, "Root");
    assert!(
        shapes
            .iter()
            .all(|(_, shape)| shape.fields.iter().all(|field| !field.required))
    );
}
