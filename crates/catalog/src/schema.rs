//! Reads foreign JSON Schemas: local references and parameters, within limits.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value};

/// Limit on references followed from one schema.
const MAX_HOPS: usize = 8;

/// Parameters read per tool; no known server has more.
pub(crate) const MAX_PARAMETERS: usize = 256;

/// Limit on nested `allOf` that are searched for parameters.
const MAX_ALL_OF: usize = 4;

/// Limit on parts of one object that are read for its keys.
const MAX_PLACES: usize = 64;

/// The schema that accepts every value.
static ANYTHING: Value = Value::Bool(true);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Parameter<'a> {
    pub(crate) name: &'a str,
    pub(crate) schema: &'a Value,
    pub(crate) required: bool,
}

/// The part of `root` that a local reference points to. Never fetches anything.
pub(crate) fn local<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return None;
    }
    root.pointer(&percent_decoded(pointer))
}

/// The end of a chain of `$ref`s; `None` if a target is missing or the chain is too long.
pub(crate) fn follow<'a>(root: &'a Value, mut schema: &'a Value) -> Option<&'a Value> {
    for _ in 0..MAX_HOPS {
        match schema.get("$ref") {
            Some(Value::String(reference)) => schema = local(root, reference)?,
            _ => return Some(schema),
        }
    }
    None
}

/// A keyword's value, in the schema or in the schema that it refers to.
pub(crate) fn said<'a>(root: &'a Value, schema: &'a Value, word: &str) -> Option<&'a Value> {
    schema.get(word).or_else(|| follow(root, schema)?.get(word))
}

/// The last segment of a reference: `Issue` in `#/$defs/Issue`.
pub(crate) fn reference_name(schema: &Value) -> Option<&str> {
    let reference = schema.get("$ref")?.as_str()?;
    reference.rsplit_once('/').map(|(_, name)| name)
}

/// The keys of an object that this part of `root` describes: required keys first, then the schema's order. A required
/// key without a description may have any value. Also returns the number of parts read.
pub(crate) fn properties<'a>(root: &'a Value, schema: &'a Value) -> (Vec<Parameter<'a>>, usize) {
    let mut keys = Keys::default();
    keys.collect(root, schema, MAX_ALL_OF);
    for name in keys.required.clone() {
        keys.describe(name, &ANYTHING);
    }
    let places = keys.places.len();
    (keys.sorted(), places)
}

/// Whether an object of this part of `root` may have keys other than `known`. True if the schema says so, or describes
/// other keys in alternatives or in unread parts. By default false.
pub(crate) fn takes_more(root: &Value, schema: &Value, known: &[Parameter<'_>]) -> bool {
    let Some(schema) = follow(root, schema).and_then(Value::as_object) else {
        return false;
    };
    if let Some(others) = schema.get("additionalProperties") {
        return *others != Value::Bool(false);
    }
    let has_unknown = |part: &Value| {
        let part = follow(root, part).and_then(Value::as_object);
        let names = part.into_iter().flat_map(|part| object(part, "properties"));
        let is_known = |name: &String| known.iter().any(|one| one.name == name);
        known.is_empty() || names.take(MAX_PARAMETERS).any(|(name, _)| !is_known(name))
    };
    let alternatives = array(schema, "anyOf").iter().chain(array(schema, "oneOf"));
    schema.contains_key("patternProperties")
        || array(schema, "allOf").len() > MAX_HOPS
        || alternatives.take(MAX_HOPS).any(has_unknown)
}

/// Keys gathered from the parts of one object; each place is read once.
#[derive(Default)]
struct Keys<'a> {
    places: HashSet<*const Map<String, Value>>,
    described: Vec<(&'a str, &'a Value)>,
    names: HashSet<&'a str>,
    required: Vec<&'a str>,
    needed: HashSet<&'a str>,
}

// === impl Keys ===

impl<'a> Keys<'a> {
    fn collect(&mut self, root: &'a Value, schema: &'a Value, depth: usize) {
        let Some(schema) = follow(root, schema).and_then(Value::as_object) else {
            return;
        };
        if self.places.len() == MAX_PLACES || !self.places.insert(std::ptr::from_ref(schema)) {
            return;
        }
        for (name, property) in object(schema, "properties").take(MAX_PARAMETERS) {
            self.describe(name, property);
        }
        let names = array(schema, "required").iter().take(MAX_PARAMETERS);
        for name in names.filter_map(Value::as_str) {
            if self.needed.len() < MAX_PARAMETERS && self.needed.insert(name) {
                self.required.push(name);
            }
        }
        if depth > 0 {
            for part in array(schema, "allOf").iter().take(MAX_HOPS) {
                self.collect(root, part, depth - 1);
            }
        }
    }

    fn describe(&mut self, name: &'a str, schema: &'a Value) {
        if self.described.len() < MAX_PARAMETERS && self.names.insert(name) {
            self.described.push((name, schema));
        }
    }

    fn sorted(self) -> Vec<Parameter<'a>> {
        let parameter = |(name, schema)| Parameter {
            name,
            schema,
            required: self.needed.contains(name),
        };
        let mut parameters: Vec<Parameter<'_>> = self.described.into_iter().map(parameter).collect();
        parameters.sort_by_key(|parameter| !parameter.required);
        parameters
    }
}

/// The object's members under `key`; empty without any.
pub(crate) fn object<'a>(
    schema: &'a Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
    schema.get(key).and_then(Value::as_object).into_iter().flatten()
}

/// The array's items under `key`; empty without any.
pub(crate) fn array<'a>(schema: &'a Map<String, Value>, key: &str) -> &'a [Value] {
    schema
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn percent_decoded(pointer: &str) -> Cow<'_, str> {
    if !pointer.contains('%') {
        return Cow::Borrowed(pointer);
    }
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let hex = |b: u8| {
            char::from(b)
                .to_digit(16)
                .and_then(|digit| u8::try_from(digit).ok())
        };
        match tail {
            [high, low, after @ ..] if first == b'%' => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => {
                    bytes.push(high * 16 + low);
                    rest = after;
                    continue;
                }
                _ => bytes.push(first),
            },
            _ => bytes.push(first),
        }
        rest = tail;
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_stay_inside_the_schema() {
        let root = json!({"$defs": {"a": {"type": "string"}, "b/c d": 1, "loop": {"$ref": "#/$defs/loop"}}});
        assert_eq!(local(&root, "#/$defs/a/type"), Some(&json!("string")));
        assert_eq!(local(&root, "#/%24defs/b~1c%20d"), Some(&json!(1)));
        assert_eq!(local(&root, "#"), Some(&root));
        for outside in [
            "https://example.com/a",
            "#anchor",
            "a.json#/x",
            "",
            "#/$defs/none",
            "#/%2",
        ] {
            assert_eq!(local(&root, outside), None, "{outside}");
        }
        assert_eq!(follow(&root, &json!({"$ref": "#/$defs/loop"})), None);
    }

    #[test]
    fn parameters_are_found_through_references_and_all_of() {
        let root = json!({
            "$ref": "#/$defs/args",
            "$defs": {
                "args": {"properties": {"a": {}, "b": {}}, "required": ["b"], "allOf": [{"$ref": "#/$defs/more"}]},
                "more": {"properties": {"c": {}, "a": {}}, "required": ["c"]},
            },
        });
        let names: Vec<_> = properties(&root, &root)
            .0
            .iter()
            .map(|p| (p.name, p.required))
            .collect();
        assert_eq!(names, [("b", true), ("c", true), ("a", false)]);
        for odd in [
            json!(true),
            json!(null),
            json!({"properties": 3, "required": "a"}),
            json!([1]),
        ] {
            assert!(properties(&odd, &odd).0.is_empty(), "{odd}");
        }
    }
}
