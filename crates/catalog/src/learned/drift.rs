//! Differences between a result and the declared or observed shape: path and kind, never a value.

use serde_json::{Map, Value};

use super::names::is_name;
use super::shape::Fields;
use crate::schema;

/// Limit on reported differences per result.
const MOST: usize = 16;
/// Limit on nesting levels that are read.
const DEEPEST: usize = 16;
/// Limit on parts of a result that are read.
const MOST_STEPS: usize = 10_000;
/// Replaces a path key that may be data.
const DATA: &str = "*";

/// One difference between a value and its schema.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Drift {
    /// Path from `result` on, such as `result.items[].name`. A key that may be data is `*`.
    pub path: String,
    /// The kind of difference.
    pub kind: DriftKind,
}

/// The kinds of difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DriftKind {
    /// A key that was never observed, or that the tool forbids.
    NewKey,
    /// A missing key that was always observed, or that the tool requires.
    MissingKey,
    /// A value of another type.
    OtherType,
}

// === impl DriftKind ===

impl DriftKind {
    /// Name in records.
    pub fn name(self) -> &'static str {
        match self {
            DriftKind::NewKey => "new_key",
            DriftKind::MissingKey => "missing_key",
            DriftKind::OtherType => "other_type",
        }
    }
}

/// Compares a value with a learned schema.
pub(super) fn learned(schema: &Value, value: &Value) -> Vec<Drift> {
    Comparison::new(schema, UnnamedKeys::New).told(value)
}

/// Compares a value with the schema that the tool declares: types, required keys, and forbidden keys. Ignores
/// alternatives, lists whose items differ by position, and keys that a pattern may cover.
pub fn declared_drift(schema: &Value, value: &Value) -> Vec<Drift> {
    Comparison::new(schema, UnnamedKeys::Allowed).told(value)
}

/// How to treat keys that the schema neither names nor describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UnnamedKeys {
    New,
    Allowed,
}

struct Comparison<'a> {
    root: &'a Value,
    unnamed: UnnamedKeys,
    steps: usize,
    path: String,
    found: Vec<Drift>,
}

// === impl Comparison ===

impl<'a> Comparison<'a> {
    fn new(root: &'a Value, unnamed: UnnamedKeys) -> Self {
        Self {
            root,
            unnamed,
            steps: MOST_STEPS,
            path: "result".to_owned(),
            found: Vec::new(),
        }
    }

    fn told(mut self, value: &Value) -> Vec<Drift> {
        self.look(self.root, value, DEEPEST);
        self.found
    }

    fn look(&mut self, schema: &'a Value, value: &Value, depth: usize) {
        if depth == 0 || self.steps == 0 || self.found.len() == MOST {
            return;
        }
        self.steps -= 1;
        let Some(Value::Object(schema)) = schema::follow(self.root, schema) else {
            return;
        };
        if ["anyOf", "oneOf", "allOf", "not", "if"]
            .iter()
            .any(|word| schema.contains_key(*word))
        {
            return;
        }
        if !has_type(schema, value) {
            self.tell(DriftKind::OtherType);
            return;
        }
        match value {
            Value::Object(fields) => self.fields(schema, fields, depth),
            Value::Array(items) => {
                let items_are = schema
                    .get("items")
                    .filter(|_| !schema.contains_key("prefixItems"));
                let Some(schema) = items_are else { return };
                let length = self.path.len();
                self.path.push_str("[]");
                for item in items {
                    self.look(schema, item, depth - 1);
                }
                self.path.truncate(length);
            }
            _ => {}
        }
    }

    fn fields(&mut self, schema: &'a Map<String, Value>, fields: &Map<String, Value>, depth: usize) {
        let properties = schema.get("properties").and_then(Value::as_object);
        for name in schema::array(schema, "required").iter().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                self.within(name, |at| at.tell(DriftKind::MissingKey));
            }
        }
        let has_patterns = schema.contains_key("patternProperties");
        let others = schema.get("additionalProperties").filter(|_| !has_patterns);
        let is_new = match others {
            None => self.unnamed == UnnamedKeys::New && !has_patterns,
            Some(others) => others == &Value::Bool(false),
        };
        let mut has_new = false;
        for (name, value) in fields {
            match properties.and_then(|properties| properties.get(name)) {
                Some(schema) => self.within(name, |at| at.look(schema, value, depth - 1)),
                None if is_new => has_new = true,
                None => {
                    if let Some(schema @ Value::Object(_)) = others {
                        self.within(DATA, |at| at.look(schema, value, depth - 1));
                    }
                }
            }
        }
        if has_new {
            self.new_key(properties, fields);
        }
    }

    /// Reports one new key of an object; shows the key only if it is a name rather than data.
    fn new_key(&mut self, properties: Option<&Map<String, Value>>, fields: &Map<String, Value>) {
        let is_known = |name: &String| properties.is_some_and(|known| known.contains_key(name));
        let kept = Fields::names(fields);
        let name = kept.iter().find(|name| !is_known(name));
        self.within(name.map_or(DATA, String::as_str), |at| at.tell(DriftKind::NewKey));
    }

    fn within(&mut self, name: &str, look: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push('.');
        self.path.push_str(if is_name(name) { name } else { DATA });
        look(self);
        self.path.truncate(length);
    }

    fn tell(&mut self, kind: DriftKind) {
        let drift = Drift {
            path: self.path.clone(),
            kind,
        };
        if self.found.len() < MOST && !self.found.contains(&drift) {
            self.found.push(drift);
        }
    }
}

fn has_type(schema: &Map<String, Value>, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    };
    match schema.get("type") {
        None => true,
        Some(Value::Array(names)) => names.iter().any(is),
        Some(name) => is(name),
    }
}
