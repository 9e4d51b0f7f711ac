//! Properties of the whole document.

mod schemas;

use std::collections::BTreeSet;

use identity::{Route, RouteAccess};
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
fn every_object_is_closed_or_describes_its_members() {
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
            if operation.get("security").is_none() {
                continue;
            }
            for status in ["401", "403", "429", "503"] {
                let refusal = &operation["responses"][status];
                let schema = &refusal["content"]["application/json"]["schema"]["$ref"];
                let schema = schema.as_str().unwrap_or_default();
                assert!(
                    schema.ends_with("/ErrorBody") || schema.ends_with("/ErrorOrRpcAnswer"),
                    "{method} {path} {status}: {schema}"
                );
            }
        }
    }
}

#[test]
fn the_document_describes_exactly_the_existing_routes() {
    let document = document();
    let paths = document["paths"].as_object().expect("paths");
    let described = paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().expect("methods");
        methods
            .keys()
            .map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    let described: BTreeSet<String> = described.collect();
    let table: BTreeSet<String> = Route::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(described, table);
}

#[test]
fn c014_exactly_the_public_routes_need_no_token() {
    let document = document();
    for route in Route::ALL {
        let method = route.method().name().to_lowercase();
        let demands = document["paths"][route.path()][method].get("security").is_some();
        assert_eq!(demands, route.access() != RouteAccess::Anyone, "{route}");
    }
}

#[test]
fn every_segment_in_braces_is_a_parameter() {
    let document = document();
    for route in Route::ALL {
        let operation = &document["paths"][route.path()][route.method().name().to_lowercase()];
        let wanted = route.path().split('/');
        let wanted: BTreeSet<&str> = wanted
            .filter_map(|one| one.strip_prefix('{')?.strip_suffix('}'))
            .collect();
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let found = parameters.filter(|one| one["in"] == "path");
        let found: BTreeSet<&str> = found.filter_map(|one| one["name"].as_str()).collect();
        assert_eq!(found, wanted, "{route}");
    }
}
