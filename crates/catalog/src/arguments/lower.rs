//! Lowers a foreign schema to one that is safe to compile: no references, bounded size, known keywords only.
//!
//! The target of a reference is lowered once and referred to by number. Recursive parts are written out a few levels
//! deep. Parts that cannot be kept are omitted and noted.
//!
//! INVARIANT: an omission only ever permits more. So an `additionalProperties`, `not`, `oneOf`, `if` or `unevaluated…`
//! whose meaning depends on an omitted part is weakened too.

mod targets;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::weight::weight;
use crate::schema;
use targets::Targets;

/// Nodes that one check may visit; a shared part counts for each reference. The largest real schema has a
/// tenth.
pub(super) const MAX_NODES: usize = 20_000;

/// Compiled nodes, about 2 KB each.
pub(super) const MAX_SIZE: usize = 6_000;

/// Written-out levels of a recursive reference, in the order tried.
const RECURSION: [usize; 3] = [3, 1, 0];

const MAX_NESTING: usize = 64;

/// Bytes of path that count as one node of memory.
const PATH_OF_NODE: usize = 128;
const MAX_NOTES: usize = 12;

/// Steps of `multipleOf` outside these bounds cost exact arithmetic with huge numbers.
const MIN_STEP: f64 = 1e-9;
const MAX_STEP: f64 = 1e15;

/// A schema that permits at least what the original permits.
#[derive(Debug)]
pub(super) struct Lowered {
    pub(super) schema: Value,
    /// Nodes that one check may visit, with a shared part counted for each reference: estimates the work.
    pub(super) nodes: usize,
    /// Compiled nodes, with a shared part counted once and a long path as several: estimates the memory.
    pub(super) size: usize,
    /// Notes about omissions, for display.
    pub(super) notes: BTreeSet<String>,
}

pub(super) type KeepPattern<'f> = &'f dyn Fn(&str) -> bool;

/// The JSON Schema drafts that are lowered differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Draft {
    /// Draft 7 and before: `$ref` hides its siblings.
    Legacy,
    /// 2019-09.
    Middle,
    /// 2020-12, MCP's default.
    Current,
}

pub(super) fn lower(root: &Value, draft: Draft, keep_pattern: KeepPattern<'_>) -> Lowered {
    let mut lowered = None;
    for recursion in RECURSION {
        let mut lowerer = Lowerer {
            root,
            draft,
            keep_pattern,
            recursion,
            nodes: 0,
            size: 0,
            nesting: 0,
            path: 0,
            deepest: 0,
            is_full: false,
            embedded: 0,
            targets: Targets::default(),
            notes: BTreeSet::new(),
        };
        let part = lowerer.part(root);
        let fits = !lowerer.is_spent() && !lowerer.is_full;
        lowered = Some(Lowered {
            schema: lowerer.targets.beside(part.schema),
            nodes: lowerer.nodes,
            size: lowerer.size,
            notes: lowerer.notes,
        });
        if fits {
            break;
        }
    }
    lowered.unwrap_or_else(|| Lowered {
        schema: Value::Bool(true),
        nodes: 1,
        size: 1,
        notes: BTreeSet::new(),
    })
}

struct Lowerer<'a> {
    root: &'a Value,
    draft: Draft,
    keep_pattern: KeepPattern<'a>,
    recursion: usize,
    nodes: usize,
    size: usize,
    nesting: usize,
    /// Bytes of the path below the current target; the compiler stores each node's path in full.
    path: usize,
    /// Greatest nesting of the current target.
    deepest: usize,
    /// Whether a shared part was omitted because it is too large at its position.
    is_full: bool,
    embedded: usize,
    targets: Targets,
    notes: BTreeSet<String>,
}

/// `exact`: whether the part has exactly the meaning of the original.
struct Part {
    schema: Value,
    exact: bool,
}

// === impl Part ===

impl Part {
    fn anything() -> Self {
        Self {
            schema: Value::Bool(true),
            exact: false,
        }
    }
}

// === impl Lowerer ===

impl<'a> Lowerer<'a> {
    fn part(&mut self, schema: &'a Value) -> Part {
        if self.is_spent() || self.nesting >= MAX_NESTING {
            return self.beyond();
        }
        self.nodes += 1;
        self.size += 1 + self.path / PATH_OF_NODE;
        self.nesting += 1;
        self.deepest = self.deepest.max(self.nesting);
        let part = match schema {
            Value::Bool(_) => Part {
                schema: schema.clone(),
                exact: true,
            },
            Value::Object(object) => self.object(object),
            _ => self.left_out("a part that is not a schema".to_owned()),
        };
        self.nesting -= 1;
        part
    }

    fn is_spent(&self) -> bool {
        self.nodes >= MAX_NODES || self.size >= MAX_SIZE
    }

    fn left_out(&mut self, what: String) -> Part {
        self.note(what);
        Part::anything()
    }

    fn beyond(&mut self) -> Part {
        self.left_out("parts beyond the bounds of depth and size".to_owned())
    }

    fn note(&mut self, what: String) {
        if self.notes.len() < MAX_NOTES {
            self.notes.insert(what);
        }
    }

    fn object(&mut self, object: &'a Map<String, Value>) -> Part {
        // Inside a part with its own `$id`, local references refer to that part.
        let identity = self.nesting > 1 && object.get("$id").is_some_and(Value::is_string);
        self.embedded += usize::from(identity);
        let part = self.members(object);
        self.embedded -= usize::from(identity);
        part
    }

    fn members(&mut self, object: &'a Map<String, Value>) -> Part {
        let mut lowered = Map::new();
        let mut inexact = BTreeSet::new();
        if let Some(reference) = object.get("$ref") {
            let target = match reference {
                Value::String(reference) => self.reference(reference),
                _ => self.left_out("a `$ref` that is not a string".to_owned()),
            };
            if self.draft == Draft::Legacy {
                return target;
            }
            if !target.exact {
                inexact.insert("$ref");
            }
            append(&mut lowered, "allOf", vec![target.schema]);
        }
        for (keyword, value) in object {
            self.path += keyword.len() + 1;
            if keyword != "$ref" && !self.keyword(keyword, value, &mut lowered) {
                inexact.insert(keyword.as_str());
            }
            self.path -= keyword.len() + 1;
        }
        weaken(object, &mut lowered, &inexact);
        Part {
            schema: Value::Object(lowered),
            exact: inexact.is_empty(),
        }
    }

    fn reference(&mut self, reference: &'a str) -> Part {
        let target = schema::local(self.root, reference).filter(|_| self.embedded == 0);
        let Some(target) = target else {
            let shown = crate::text::cut(reference, 100);
            return self.left_out(format!("the reference '{shown}', which is not inside the schema"));
        };
        self.target(target)
    }

    /// Keeps one keyword, whole or in part; returns `false` if the result permits more.
    fn keyword(&mut self, keyword: &str, value: &'a Value, lowered: &mut Map<String, Value>) -> bool {
        match keyword {
            "additionalProperties"
            | "additionalItems"
            | "contains"
            | "propertyNames"
            | "not"
            | "if"
            | "then"
            | "else"
            | "unevaluatedProperties"
            | "unevaluatedItems" => {
                let part = self.part(value);
                lowered.insert(keyword.to_owned(), part.schema);
                part.exact
            }
            "items" if value.is_array() && self.draft != Draft::Current => self.list(keyword, value, lowered),
            "items" => {
                let part = self.part(value);
                lowered.insert(keyword.to_owned(), part.schema);
                part.exact
            }
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => self.list(keyword, value, lowered),
            "properties" | "patternProperties" | "dependentSchemas" => self.map(keyword, value, lowered),
            "pattern" => match value.as_str().filter(|pattern| (self.keep_pattern)(pattern)) {
                Some(_) => insert(lowered, keyword, value),
                None => self.unreadable(keyword),
            },
            _ => match plain(keyword, value) {
                Some(true) => {
                    let values = weight(value, MAX_NODES);
                    self.nodes += values;
                    self.size += values;
                    insert(lowered, keyword, value)
                }
                Some(false) => self.unreadable(keyword),
                None => true,
            },
        }
    }

    fn unreadable(&mut self, keyword: &str) -> bool {
        let shown = crate::text::cut(keyword, 40);
        self.note(format!("a '{shown}' that is not understood"));
        false
    }

    fn list(&mut self, keyword: &str, value: &'a Value, lowered: &mut Map<String, Value>) -> bool {
        let Some(items) = value.as_array().filter(|items| !items.is_empty()) else {
            return self.unreadable(keyword);
        };
        let parts: Vec<Part> = items.iter().map(|item| self.part(item)).collect();
        if self.is_spent() {
            return self.beyond().exact;
        }
        let exact = parts.iter().all(|part| part.exact);
        append(
            lowered,
            keyword,
            parts.into_iter().map(|part| part.schema).collect(),
        );
        exact
    }

    fn map(&mut self, keyword: &str, value: &'a Value, lowered: &mut Map<String, Value>) -> bool {
        let Some(members) = value.as_object() else {
            return self.unreadable(keyword);
        };
        let mut exact = true;
        let mut parts = Map::new();
        for (name, member) in members {
            // Even a part that permits any value is compiled, together with its path.
            if self.is_spent() {
                exact = self.beyond().exact;
                break;
            }
            if keyword == "patternProperties" && !(self.keep_pattern)(name) {
                exact = self.unreadable("pattern");
                continue;
            }
            self.path += name.len() + 1;
            let part = self.part(member);
            self.path -= name.len() + 1;
            exact &= part.exact;
            parts.insert(name.clone(), part.schema);
        }
        lowered.insert(keyword.to_owned(), Value::Object(parts));
        exact
    }
}

fn insert(lowered: &mut Map<String, Value>, keyword: &str, value: &Value) -> bool {
    lowered.insert(keyword.to_owned(), value.clone());
    true
}

/// Removes keywords that would now refuse more, because a neighbouring or nested part was omitted.
fn weaken(original: &Map<String, Value>, lowered: &mut Map<String, Value>, inexact: &BTreeSet<&str>) {
    if inexact.is_empty() {
        return;
    }
    let mut remove = vec!["unevaluatedProperties", "unevaluatedItems"];
    if inexact.contains("not") {
        remove.push("not");
    }
    if inexact.contains("if") {
        remove.extend(["if", "then", "else"]);
    }
    if inexact.contains("contains") {
        remove.push("maxContains");
    }
    if keys(original, "properties") != keys(lowered, "properties")
        || keys(original, "patternProperties") != keys(lowered, "patternProperties")
    {
        remove.push("additionalProperties");
    }
    if original.contains_key("prefixItems") && !lowered.contains_key("prefixItems") {
        remove.push("items");
    }
    for keyword in remove {
        lowered.remove(keyword);
    }
    if inexact.contains("oneOf")
        && let Some(alternatives) = lowered.remove("oneOf")
    {
        append(lowered, "allOf", vec![json!({ "anyOf": alternatives })]);
    }
}

/// The number of names that the keyword compares; `None` if the keyword has no names.
fn keys(schema: &Map<String, Value>, keyword: &str) -> Option<usize> {
    schema
        .get(keyword)
        .map(|value| value.as_object().map_or(usize::MAX, Map::len))
}

fn append(lowered: &mut Map<String, Value>, keyword: &str, mut schemas: Vec<Value>) {
    match lowered.get_mut(keyword) {
        Some(Value::Array(known)) => known.append(&mut schemas),
        _ => {
            lowered.insert(keyword.to_owned(), Value::Array(schemas));
        }
    }
}

/// Whether a keyword without subschemas has a valid value; `None` if the keyword restricts nothing.
fn plain(keyword: &str, value: &Value) -> Option<bool> {
    Some(match keyword {
        "type" => is_type(value) || value.as_array().is_some_and(|names| is_set_of(names, is_type)),
        "enum" => value.as_array().is_some_and(|values| !values.is_empty()),
        "const" => true,
        "required" => value
            .as_array()
            .is_some_and(|names| names.is_empty() || is_set_of(names, Value::is_string)),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "multipleOf" => value
            .as_f64()
            .is_some_and(|step| (MIN_STEP..=MAX_STEP).contains(&step)),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => value.is_u64(),
        "uniqueItems" => value.is_boolean(),
        "dependentRequired" => value.as_object().is_some_and(|members| {
            members.values().all(|names| {
                names
                    .as_array()
                    .is_some_and(|names| names.is_empty() || is_set_of(names, Value::is_string))
            })
        }),
        // Every draft in use can express both with other keywords.
        "dependencies" | "$dynamicRef" | "$recursiveRef" => false,
        _ => return None,
    })
}

fn is_type(value: &Value) -> bool {
    const NAMES: [&str; 7] = [
        "null", "boolean", "integer", "number", "string", "array", "object",
    ];
    value.as_str().is_some_and(|name| NAMES.contains(&name))
}

fn is_set_of(values: &[Value], holds: impl Fn(&Value) -> bool) -> bool {
    let distinct: BTreeSet<&str> = values.iter().filter_map(Value::as_str).collect();
    !values.is_empty() && distinct.len() == values.len() && values.iter().all(holds)
}
