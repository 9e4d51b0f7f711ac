//! What holds for the whole document.

mod schemas;

use serde_json::Value;

use super::openapi;

fn document() -> Value {
    serde_json::from_str(&openapi()).expect("JSON")
}

/// Visits every value of the document with its place.
fn visit(place: &str, value: &Value, see: &mut impl FnMut(&str, &Value)) {
    see(place, value);
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                visit(&format!("{place}/{name}"), member, see);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                visit(&format!("{place}/{index}"), item, see);
            }
        }
        _ => {}
    }
}

#[test]
fn the_document_changes_only_on_purpose() {
    insta::assert_snapshot!(openapi());
}

#[test]
fn every_object_is_closed_or_says_what_its_members_are() {
    visit("#", &document(), &mut |place, value| {
        let types = &value["type"];
        let is_object = types == "object"
            || types
                .as_array()
                .is_some_and(|types| types.iter().any(|one| one == "object"));
        if is_object {
            let others = &value["additionalProperties"];
            assert!(
                *others == Value::Bool(false) || others["$ref"] == "#/components/schemas/JsonValue",
                "{place}: {value}"
            );
        }
    });
}

#[test]
fn every_reference_names_a_schema() {
    let document = document();
    visit("#", &document, &mut |place, value| {
        if let Some(target) = value.get("$ref").and_then(Value::as_str) {
            let pointer = target.strip_prefix('#').expect(place);
            assert!(document.pointer(pointer).is_some(), "{place}: {target}");
        }
    });
}

#[test]
fn every_body_and_answer_has_a_named_schema() {
    let document = document();
    visit("#/paths", &document["paths"], &mut |place, value| {
        if place.ends_with("/application~1json") || place.ends_with("/application/json") {
            let schema = &value["schema"];
            let named = schema.get("$ref").or_else(|| schema.pointer("/items/$ref"));
            assert!(named.is_some(), "{place}: {value}");
        }
    });
}

#[test]
fn every_route_declares_the_refusals_that_any_request_may_meet() {
    let document = document();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("methods") {
            for status in ["401", "403", "429", "503"] {
                let refusal = &operation["responses"][status];
                let schema = &refusal["content"]["application/json"]["schema"]["$ref"];
                assert_eq!(
                    schema, "#/components/schemas/ErrorBody",
                    "{method} {path} {status}"
                );
            }
        }
    }
}
