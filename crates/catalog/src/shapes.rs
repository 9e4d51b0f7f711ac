//! The types that a schema describes, independent of any language; stubs are written from them.
//!
//! An object with known keys becomes a named [`Shape`]; equal shapes are merged. A reference to a part that is being
//! read becomes a reference to its shape. Every size is limited, because the schemas are foreign.

mod names;

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::schema::{self, Parameter};
use crate::text::remark;

/// Limit on schema nodes read for one tool; above it a type is [`Type::Any`].
const MAX_STEPS: usize = 4_000;

/// Limit on nesting of types.
const MAX_NESTING: usize = 24;

/// Values read of one enumeration; a larger one has the type [`Type::Any`].
const MAX_VALUES: usize = 10_000;

const MAX_LITERALS: usize = 128;
const MAX_LITERAL_BYTES: usize = 200;
const MAX_ALTERNATIVES: usize = 16;

/// Limit on bytes of literal values written for one tool's arguments, or its result; above it, only their types are
/// written.
const MAX_BYTES_OF_LITERALS: usize = 32 * 1024;

/// Bytes of field descriptions written for one tool's arguments, or its result.
const MAX_BYTES_OF_NOTES: usize = 4 * 1024;

/// Longest key written, in bytes. An object with a longer key accepts any other keys.
const MAX_KEY_BYTES: usize = 200;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Type {
    Any,
    /// The result of a call without any known type: text, its value if the text is JSON, or blocks.
    Answer,
    Text,
    Whole,
    Number,
    Truth,
    Null,
    /// One of these texts, integers and booleans.
    Literal(Vec<Value>),
    List(Box<Type>),
    Map(Box<Type>),
    /// An object with known keys; index into [`Shapes`].
    Shape(usize),
    Union(Vec<Type>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ShapeField {
    pub(crate) name: String,
    pub(crate) kind: Type,
    pub(crate) required: bool,
    /// First sentence of the description, on one line.
    pub(crate) note: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    pub(crate) name: String,
    pub(crate) fields: Vec<ShapeField>,
    /// Whether the schema allows any other key.
    pub(crate) open: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Shapes {
    /// `None` while a shape is being read, and for a shape that equals another.
    slots: Vec<Option<Shape>>,
    /// Complete shapes, each after the shapes that it names, unless they name each other.
    order: Vec<usize>,
    taken: HashSet<String>,
}

/// Reads the schemas below one root.
pub(crate) struct ShapeReader<'a, 's> {
    shapes: &'s mut Shapes,
    root: &'a Value,
    /// Shapes by address of their schema, so that each part is read once.
    read: HashMap<*const Value, usize>,
    /// Types of enumerations by address of their values, so that each is read once.
    enumerations: HashMap<*const Value, Type>,
    /// Shapes that were referenced while they were being read.
    recursive: HashSet<usize>,
    /// Levels of shapes still allowed.
    depth: usize,
    steps: usize,
    literal_bytes: usize,
    note_bytes: usize,
    nesting: usize,
    /// Whether the schema was observed; then every key is optional.
    observed: bool,
    /// Whether an object that may have unknown keys is a shape, too.
    open: bool,
}

// === impl Shapes ===

impl Shapes {
    /// All shapes; a shape follows the shapes that it needs.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &Shape)> {
        let shape = |&index| Some((index, self.get(index)?));
        self.order.iter().filter_map(shape)
    }

    pub(crate) fn get(&self, index: usize) -> Option<&Shape> {
        self.slots.get(index)?.as_ref()
    }

    pub(crate) fn name(&self, index: usize) -> &str {
        self.get(index).map_or("Any", |shape| &shape.name)
    }

    /// Number of keys of all shapes, plus one per shape.
    pub(crate) fn size(&self) -> usize {
        self.iter().map(|(_, shape)| shape.fields.len() + 1).sum()
    }

    /// A unique name similar to `wanted`.
    pub(crate) fn take_name(&mut self, wanted: &str) -> String {
        names::free(wanted, &mut self.taken)
    }

    /// Drops the shapes that none of these types uses.
    pub(crate) fn retain_used<'t>(&mut self, roots: impl Iterator<Item = &'t Type>) {
        let mut used = HashSet::new();
        let mut open: Vec<&Type> = Vec::new();
        for root in roots {
            open.push(root);
            while let Some(kind) = open.pop() {
                match kind {
                    Type::List(inner) | Type::Map(inner) => open.push(inner),
                    Type::Union(parts) => open.extend(parts),
                    Type::Shape(index) if used.insert(*index) => {
                        let fields = self.slots.get(*index).into_iter().flatten();
                        open.extend(fields.flat_map(|shape| &shape.fields).map(|field| &field.kind));
                    }
                    _ => {}
                }
            }
        }
        self.order.retain(|index| used.contains(index));
    }

    /// An earlier shape with exactly these keys; descriptions are not compared. Removes descriptions that differ.
    fn merge(&mut self, new: &Shape) -> Option<usize> {
        let is_equal = |shape: &Shape| {
            let mut pairs = shape.fields.iter().zip(&new.fields);
            shape.open == new.open
                && shape.fields.len() == new.fields.len()
                && pairs.all(|(a, b)| a.name == b.name && a.kind == b.kind && a.required == b.required)
        };
        let (index, _) = self.iter().find(|(_, shape)| is_equal(shape))?;
        let known = self.slots[index].iter_mut().flat_map(|shape| &mut shape.fields);
        for (known, field) in known.zip(&new.fields) {
            if field.note.is_some() && known.note != field.note {
                known.note = None;
            }
        }
        Some(index)
    }
}

// === impl ShapeReader ===

impl<'a, 's> ShapeReader<'a, 's> {
    /// Reads parts of `root`; writes out objects `depth` levels deep.
    pub(crate) fn new(shapes: &'s mut Shapes, root: &'a Value, depth: usize) -> Self {
        Self {
            shapes,
            root,
            read: HashMap::new(),
            enumerations: HashMap::new(),
            recursive: HashSet::new(),
            depth,
            steps: MAX_STEPS,
            literal_bytes: MAX_BYTES_OF_LITERALS,
            note_bytes: 0,
            nesting: 0,
            observed: false,
            open: false,
        }
    }

    /// Also shapes objects that may have unknown keys.
    pub(crate) fn open(mut self) -> Self {
        self.open = true;
        self
    }

    /// Also reads the descriptions of objects' fields.
    pub(crate) fn described(mut self) -> Self {
        self.note_bytes = MAX_BYTES_OF_NOTES;
        self
    }

    /// Marks the schema as observed, so that every key is optional.
    pub(crate) fn observed(mut self) -> Self {
        self.observed = true;
        self
    }

    /// The type of a value of this schema; a new shape gets a name similar to `hint`.
    pub(crate) fn read(&mut self, schema: &'a Value, hint: &str) -> Type {
        if self.steps == 0 || self.nesting == MAX_NESTING {
            return Type::Any;
        }
        self.steps -= 1;
        self.nesting += 1;
        let named = schema::reference_name(schema).map(names::camel);
        let kind = match schema::follow(self.root, schema) {
            Some(schema @ Value::Object(words)) => {
                self.object(schema, words, named.as_deref().unwrap_or(hint))
            }
            _ => Type::Any,
        };
        self.nesting -= 1;
        kind
    }

    /// Drops keys that are too long.
    pub(crate) fn fields(&mut self, parameters: &[Parameter<'a>]) -> Vec<ShapeField> {
        let known = parameters.iter().filter(|one| one.name.len() <= MAX_KEY_BYTES);
        known
            .map(|one| ShapeField {
                name: one.name.to_owned(),
                kind: self.read(one.schema, &names::camel(one.name)),
                required: one.required && !self.observed,
                note: None,
            })
            .collect()
    }

    fn described_fields(&mut self, parameters: &[Parameter<'a>]) -> Vec<ShapeField> {
        let mut fields = self.fields(parameters);
        let known = parameters.iter().filter(|one| one.name.len() <= MAX_KEY_BYTES);
        for (field, parameter) in fields.iter_mut().zip(known) {
            let description = schema::said(self.root, parameter.schema, "description");
            let note = description.and_then(Value::as_str).and_then(remark);
            let Some(left) = note
                .as_ref()
                .and_then(|note| self.note_bytes.checked_sub(note.len()))
            else {
                continue;
            };
            self.note_bytes = left;
            field.note = note;
        }
        fields
    }

    /// The keys of an object. Each part that contributes keys counts as a step.
    fn properties(&mut self, place: &'a Value) -> Vec<Parameter<'a>> {
        let (parameters, places) = schema::properties(self.root, place);
        self.steps = self.steps.saturating_sub(places.saturating_sub(1));
        parameters
    }

    fn object(&mut self, place: &'a Value, words: &'a Map<String, Value>, hint: &str) -> Type {
        if let Some(value) = words.get("const") {
            return self.bounded(literals(std::slice::from_ref(value)));
        }
        if let Some(Value::Array(values)) = words.get("enum") {
            return self.enumeration(place, values);
        }
        for word in ["anyOf", "oneOf"] {
            let alternatives = schema::array(words, word);
            // Alternatives next to properties only say which properties belong together.
            if !alternatives.is_empty() && !words.contains_key("properties") {
                return self.alternatives(alternatives, hint);
            }
        }
        match words.get("type") {
            Some(Value::String(name)) => self.named(name, place, words, hint),
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str).take(MAX_ALTERNATIVES);
                union(names.map(|name| self.named(name, place, words, hint)).collect())
            }
            _ => self.untyped(place, words, hint),
        }
    }

    fn enumeration(&mut self, place: &'a Value, values: &[Value]) -> Type {
        if values.len() > MAX_VALUES {
            return Type::Any;
        }
        let known = self.enumerations.entry(std::ptr::from_ref(place));
        let kind = known.or_insert_with(|| literals(values)).clone();
        self.bounded(kind)
    }

    /// Literals while the byte limit allows, then only their types. Each reference to an enumeration writes it again.
    fn bounded(&mut self, kind: Type) -> Type {
        let Type::Literal(values) = kind else {
            return kind;
        };
        let bytes = values.iter().map(|value| value.to_string().len()).sum();
        match self.literal_bytes.checked_sub(bytes) {
            Some(left) => {
                self.literal_bytes = left;
                Type::Literal(values)
            }
            None => union(values.iter().map(of_value).collect()),
        }
    }

    fn named(&mut self, name: &str, place: &'a Value, words: &'a Map<String, Value>, hint: &str) -> Type {
        match name {
            "string" => Type::Text,
            "integer" => Type::Whole,
            "number" => Type::Number,
            "boolean" => Type::Truth,
            "null" => Type::Null,
            "array" => self.list(words, hint),
            "object" => self.dict(place, words, hint),
            _ => Type::Any,
        }
    }

    fn untyped(&mut self, place: &'a Value, words: &'a Map<String, Value>, hint: &str) -> Type {
        if words.contains_key("properties") {
            return self.dict(place, words, hint);
        }
        if words.contains_key("items") {
            return self.list(words, hint);
        }
        let parts = schema::array(words, "allOf");
        if self.read.contains_key(&std::ptr::from_ref(place)) || !self.properties(place).is_empty() {
            return self.dict(place, words, hint);
        }
        // All parts apply; the first part with a known type is the best short answer.
        let mut kinds = parts
            .iter()
            .take(MAX_ALTERNATIVES)
            .map(|part| self.read(part, hint));
        kinds.find(|kind| *kind != Type::Any).unwrap_or(Type::Any)
    }

    fn list(&mut self, words: &'a Map<String, Value>, hint: &str) -> Type {
        let item = match words.get("items") {
            // With types by position, `items` covers only the remaining items.
            Some(items @ Value::Object(_)) if !words.contains_key("prefixItems") => {
                self.read(items, &names::singular(hint))
            }
            _ => Type::Any,
        };
        Type::List(Box::new(item))
    }

    fn dict(&mut self, place: &'a Value, words: &'a Map<String, Value>, hint: &str) -> Type {
        if let Some(&index) = self.read.get(&std::ptr::from_ref(place)) {
            if self.shapes.get(index).is_none() {
                self.recursive.insert(index);
            }
            return Type::Shape(index);
        }
        let parameters = self.properties(place);
        if parameters.is_empty() || self.depth == 0 || self.is_beyond(place, words, &parameters) {
            let value = match words.get("additionalProperties") {
                Some(values @ Value::Object(_)) if parameters.is_empty() => {
                    self.read(values, &names::singular(hint))
                }
                _ => Type::Any,
            };
            return Type::Map(Box::new(value));
        }
        Type::Shape(self.shape(place, words, &parameters, hint))
    }

    /// Whether an object may have keys that none of its shapes shows.
    fn is_beyond(&self, place: &Value, words: &Map<String, Value>, known: &[Parameter<'_>]) -> bool {
        let others = known.len() == schema::MAX_PARAMETERS
            || known.iter().any(|one| one.name.len() > MAX_KEY_BYTES)
            || (!is_unbounded(words) && schema::takes_more(self.root, place, known));
        others && !self.open
    }

    fn shape(
        &mut self,
        place: &'a Value,
        words: &'a Map<String, Value>,
        parameters: &[Parameter<'a>],
        hint: &str,
    ) -> usize {
        let index = self.shapes.slots.len();
        self.shapes.slots.push(None);
        self.read.insert(std::ptr::from_ref(place), index);
        self.depth -= 1;
        let fields = match self.note_bytes {
            0 => self.fields(parameters),
            _ => self.described_fields(parameters),
        };
        self.depth += 1;
        let mut shape = Shape {
            name: String::new(),
            fields,
            open: is_unbounded(words),
        };
        if !self.recursive.contains(&index)
            && let Some(equal) = self.shapes.merge(&shape)
        {
            self.read.insert(std::ptr::from_ref(place), equal);
            return equal;
        }
        shape.name = self.shapes.take_name(hint);
        self.shapes.slots[index] = Some(shape);
        self.shapes.order.push(index);
        index
    }

    fn alternatives(&mut self, alternatives: &'a [Value], hint: &str) -> Type {
        if alternatives.len() > MAX_ALTERNATIVES {
            return Type::Any;
        }
        union(alternatives.iter().map(|one| self.read(one, hint)).collect())
    }
}

/// The union of the types; `Any` replaces all others, and literals are combined.
fn union(kinds: Vec<Type>) -> Type {
    let mut distinct: Vec<Type> = Vec::new();
    let mut values: Vec<Value> = Vec::new();
    for kind in kinds {
        let parts = match kind {
            Type::Any => return Type::Any,
            Type::Union(parts) => parts,
            one => vec![one],
        };
        for part in parts {
            match part {
                Type::Literal(more) => values.extend(more),
                part if !distinct.contains(&part) => distinct.push(part),
                _ => {}
            }
        }
    }
    if !values.is_empty() {
        match literals(&values) {
            Type::Union(parts) => distinct.extend(parts),
            one => distinct.insert(0, one),
        }
    }
    distinct.sort_by_key(|kind| *kind == Type::Null);
    match distinct.len() {
        0 => Type::Any,
        1 => distinct.remove(0),
        _ => Type::Union(distinct),
    }
}

/// One of these values; only their types if there are too many values, or if a value cannot be written as a type.
fn literals(values: &[Value]) -> Type {
    let mut distinct: Vec<Value> = Vec::new();
    let mut kinds: Vec<Type> = Vec::new();
    let mut nameable = !values.is_empty();
    for value in values {
        let kind = of_value(value);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
        nameable = nameable && distinct.len() <= MAX_LITERALS && is_nameable(value);
        if nameable && !distinct.contains(value) {
            distinct.push(value.clone());
        }
    }
    if nameable && distinct.len() <= MAX_LITERALS {
        return Type::Literal(distinct);
    }
    union(kinds)
}

/// Whether an object only states that other keys are allowed; its own keys are then worth showing.
fn is_unbounded(words: &Map<String, Value>) -> bool {
    match words.get("additionalProperties") {
        Some(Value::Object(others)) => others.is_empty(),
        others => *others.unwrap_or(&Value::Null) == Value::Bool(true),
    }
}

/// Whether a literal type can express exactly this value.
fn is_nameable(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() <= MAX_LITERAL_BYTES,
        Value::Number(number) => !number.is_f64(),
        Value::Null | Value::Bool(_) => true,
        Value::Array(_) | Value::Object(_) => false,
    }
}

/// The value's type, without its keys and items.
pub(crate) fn of_value(value: &Value) -> Type {
    match value {
        Value::Null => Type::Null,
        Value::Bool(_) => Type::Truth,
        Value::Number(number) if number.is_f64() => Type::Number,
        Value::Number(_) => Type::Whole,
        Value::String(_) => Type::Text,
        Value::Array(_) => Type::List(Box::new(Type::Any)),
        Value::Object(_) => Type::Map(Box::new(Type::Any)),
    }
}

#[cfg(test)]
mod tests;
