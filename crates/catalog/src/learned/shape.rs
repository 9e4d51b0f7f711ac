//! The shape of values: types, keys that are names, and the shapes below them.
//!
//! Two shapes merge to a shape that holds for both. The order of merging does not matter.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::names::is_name;

/// Limit on nesting levels that are read.
const DEEPEST: usize = 8;
/// Limit on parts of a whole shape. A larger shape is cut at the level where it fits.
const MOST_PARTS: usize = 2_000;
/// Limit on keys of one object; if an object has more, its keys are data.
const MOST_KEYS: usize = 128;
/// If an object has more keys with scalars of one kind, its keys are data.
const MOST_ALIKE: usize = 24;
/// If an object has more keys with objects of one kind, its keys are data.
const MOST_ALIKE_OBJECTS: usize = 4;
/// If one place has more keys with objects that share a key, the keys are data.
const MOST_SHARING: usize = 16;
/// Optional keys are data if the number of all keys exceeds this × (1 + the number of constant keys).
const MOST_CHANGING: usize = 8;

/// The types; a value has one of them.
const TYPES: [&str; 7] = [
    "null", "boolean", "integer", "number", "string", "array", "object",
];
const NULL: u8 = 1;
const BOOLEAN: u8 = 1 << 1;
const INTEGER: u8 = 1 << 2;
const NUMBER: u8 = 1 << 3;
const STRING: u8 = 1 << 4;
const ARRAY: u8 = 1 << 5;
const OBJECT: u8 = 1 << 6;

/// The common shape of some values; the empty shape describes no value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Shape {
    /// The inside was not read, so any value is possible.
    any: bool,
    /// Types as bits, by index in [`TYPES`].
    types: u8,
    fields: Fields,
    items: Option<Box<Shape>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Fields {
    names: BTreeMap<String, LearnedField>,
    /// The shape below keys that are data. If set, only constant names are stored.
    others: Option<Box<Shape>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct LearnedField {
    always: bool,
    shape: Shape,
}

/// The kind of a value: values of one kind agree in all these fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ShapeKind {
    any: bool,
    /// Number of enclosing lists.
    lists: usize,
    /// Bits, by index in [`TYPES`], without null; integers and other numbers are one type.
    types: u8,
}

// === impl Shape ===

impl Shape {
    pub(super) fn of(value: &Value) -> Shape {
        Shape::at(value, 0)
    }

    fn at(value: &Value, depth: usize) -> Shape {
        if depth == DEEPEST {
            return Shape::anything();
        }
        let mut shape = Shape::default();
        shape.types = match value {
            Value::Null => NULL,
            Value::Bool(_) => BOOLEAN,
            Value::Number(number) if number.is_f64() => NUMBER,
            Value::Number(_) => INTEGER,
            Value::String(_) => STRING,
            Value::Array(items) => {
                let items = items.iter().map(|item| Shape::at(item, depth + 1));
                shape.items = items.reduce(Shape::merge).map(Box::new);
                ARRAY
            }
            Value::Object(fields) => {
                shape.fields = Fields::of(fields, depth + 1);
                OBJECT
            }
        };
        shape
    }

    /// The kind; a list has the kind of its items.
    fn kind(&self) -> ShapeKind {
        let types = match self.types & !NULL {
            NUMBER => INTEGER,
            types => types,
        };
        match &self.items {
            Some(items) if types == ARRAY => ShapeKind {
                lists: 1 + items.kind().lists,
                ..items.kind()
            },
            _ => ShapeKind {
                any: self.any,
                lists: 0,
                types,
            },
        }
    }

    /// The keys of the objects, or of a list's items; `None` without objects.
    fn object(&self) -> Option<&Fields> {
        match &self.items {
            Some(items) if self.types & OBJECT == 0 => items.object(),
            _ => (self.types & OBJECT != 0).then_some(&self.fields),
        }
    }

    fn anything() -> Shape {
        Shape {
            any: true,
            ..Shape::default()
        }
    }

    /// The shape that describes the values of both.
    pub(super) fn merge(self, other: Shape) -> Shape {
        if self.any || other.any {
            return Shape::anything();
        }
        let had_objects = (self.types & OBJECT != 0, other.types & OBJECT != 0);
        let mut types = self.types | other.types;
        if types & NUMBER != 0 {
            types &= !INTEGER;
        }
        Shape {
            any: false,
            types,
            fields: match had_objects {
                (true, true) => self.fields.merge(other.fields),
                (true, false) => self.fields,
                (false, _) => other.fields,
            },
            items: merge_optional(self.items, other.items),
        }
    }

    /// Cuts a shape that is too large, at the level where it fits.
    pub(super) fn bounded(mut self) -> Shape {
        let mut level = DEEPEST;
        while level > 0 && self.parts() > MOST_PARTS {
            level -= 1;
            self.cut(level);
        }
        self
    }

    fn parts(&self) -> usize {
        1 + self.below().map(Shape::parts).sum::<usize>()
    }

    fn below(&self) -> impl Iterator<Item = &Shape> {
        let names = self.fields.names.values().map(|field| &field.shape);
        names
            .chain(self.fields.others.as_deref())
            .chain(self.items.as_deref())
    }

    fn cut(&mut self, level: usize) {
        if level == 0 {
            *self = Shape::anything();
            return;
        }
        let names = self.fields.names.values_mut().map(|field| &mut field.shape);
        let below = names
            .chain(self.fields.others.as_deref_mut())
            .chain(self.items.as_deref_mut());
        below.for_each(|shape| shape.cut(level - 1));
    }

    /// Writes the shape as a schema, with the keywords that [`super::Learned`] lists.
    pub(super) fn schema(&self) -> Value {
        if self.any {
            return json!({});
        }
        let mut schema = Map::new();
        let types = TYPES.iter().enumerate();
        let mut types: Vec<Value> = types
            .filter(|(bit, _)| self.types & (1 << bit) != 0)
            .map(|(_, name)| Value::from(*name))
            .collect();
        let types = match types.len() {
            1 => types.remove(0),
            _ => Value::Array(types),
        };
        schema.insert("type".to_owned(), types);
        self.fields.write(&mut schema);
        if let Some(items) = &self.items {
            schema.insert("items".to_owned(), items.schema());
        }
        Value::Object(schema)
    }

    /// Reads the shape from a schema. An invalid schema gives a value whose inside was not read.
    pub(super) fn of_schema(schema: &Value) -> Shape {
        Shape::read(schema, 0).unwrap_or_else(Shape::anything)
    }

    fn read(schema: &Value, depth: usize) -> Option<Shape> {
        if depth == DEEPEST {
            return None;
        }
        let names = match schema.get("type")? {
            Value::Array(names) => names.as_slice(),
            name => std::slice::from_ref(name),
        };
        let mut types = 0;
        for name in names {
            types |= 1 << TYPES.iter().position(|known| name == known)?;
        }
        let below = |schema| Box::new(Shape::read(schema, depth + 1).unwrap_or_else(Shape::anything));
        Some(Shape {
            any: false,
            types,
            fields: Fields {
                names: Fields::read(schema, depth + 1),
                others: schema.get("additionalProperties").map(below),
            },
            items: schema.get("items").map(below),
        })
    }
}

fn merge_optional(one: Option<Box<Shape>>, other: Option<Box<Shape>>) -> Option<Box<Shape>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Box::new(one.merge(*other))),
        (one, other) => one.or(other),
    }
}

// === impl Fields ===

impl Fields {
    /// The keys of one object that are names.
    pub(super) fn names(object: &Map<String, Value>) -> Vec<String> {
        Fields::of(object, 1).names.into_keys().collect()
    }

    fn of(object: &Map<String, Value>, depth: usize) -> Fields {
        let mut fields = Fields::default();
        for (key, value) in object {
            let shape = Shape::at(value, depth);
            if is_name(key) {
                let field = LearnedField { always: true, shape };
                fields.names.insert(key.clone(), field);
            } else {
                fields.others = merge_optional(fields.others, Some(Box::new(shape)));
            }
        }
        if fields.names.len() > MOST_KEYS || fields.are_alike() || fields.share() {
            fields.give_up(|_| false);
        }
        fields
    }

    /// Whether many keys hold values of one kind, as in a map from identifiers. One kind are scalars of one
    /// type, objects with most keys in common, and lists of either. Null is of every kind.
    fn are_alike(&self) -> bool {
        let shapes = || self.names.values().map(|field| &field.shape);
        let mut kinds = shapes()
            .map(Shape::kind)
            .filter(|kind| *kind != ShapeKind::default());
        let kind = kinds.next().unwrap_or_default();
        if !kinds.all(|other| other == kind) {
            return false;
        }
        if kind.types != OBJECT {
            return self.names.len() > MOST_ALIKE;
        }
        let (mut keys, mut all, mut objects) = (BTreeSet::new(), 0, 0);
        for object in shapes().filter_map(Shape::object) {
            all += object.names.len();
            objects += 1;
            keys.extend(object.names.keys());
        }
        let most = if keys.is_empty() {
            MOST_ALIKE
        } else {
            MOST_ALIKE_OBJECTS
        };
        self.names.len() > most && all * 2 >= keys.len() * objects
    }

    /// Whether very many keys hold objects that share a key. No merge changes this, so the order of merging
    /// does not matter.
    fn share(&self) -> bool {
        if self.names.len() <= MOST_SHARING {
            return false;
        }
        let (mut counts, mut maps) = (BTreeMap::<&str, usize>::new(), 0);
        for object in self.names.values().filter_map(|field| field.shape.object()) {
            if object.others.is_some() {
                maps += 1;
                continue;
            }
            for key in object.names.keys() {
                *counts.entry(key).or_default() += 1;
            }
        }
        maps + counts.into_values().max().unwrap_or_default() > MOST_SHARING
    }

    fn merge(mut self, other: Fields) -> Fields {
        let mut theirs = other.names;
        for (name, field) in &mut self.names {
            match theirs.remove(name) {
                Some(their) => {
                    field.always &= their.always;
                    field.shape = std::mem::take(&mut field.shape).merge(their.shape);
                }
                None => field.always = false,
            }
        }
        for (name, mut field) in theirs {
            field.always = false;
            self.names.insert(name, field);
        }
        self.others = merge_optional(self.others, other.others);
        let always = self.names.values().filter(|field| field.always).count();
        let changes = self.names.len() > MOST_CHANGING * (1 + always);
        if self.others.is_some() || changes || self.names.len() > MOST_KEYS || self.share() {
            self.give_up(|field| field.always);
        }
        self
    }

    /// Treats all keys as data, except those that `stays` accepts.
    fn give_up(&mut self, stays: impl Fn(&LearnedField) -> bool) {
        let names = std::mem::take(&mut self.names);
        let (kept, data): (BTreeMap<_, _>, BTreeMap<_, _>) =
            names.into_iter().partition(|(_, field)| stays(field));
        self.names = kept;
        let data = data.into_values().map(|field| field.shape).reduce(Shape::merge);
        self.others = merge_optional(self.others.take(), data.map(Box::new));
    }

    fn write(&self, schema: &mut Map<String, Value>) {
        if !self.names.is_empty() {
            let properties = self.names.iter();
            let properties = properties.map(|(name, field)| (name.clone(), field.shape.schema()));
            schema.insert("properties".to_owned(), Value::Object(properties.collect()));
        }
        let always = self.names.iter().filter(|(_, field)| field.always);
        let always: Vec<&String> = always.map(|(name, _)| name).collect();
        if !always.is_empty() {
            schema.insert("required".to_owned(), json!(always));
        }
        if let Some(others) = &self.others {
            schema.insert("additionalProperties".to_owned(), others.schema());
        }
    }

    fn read(schema: &Value, depth: usize) -> BTreeMap<String, LearnedField> {
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
        let properties = schema.get("properties").and_then(Value::as_object);
        let fields = properties.into_iter().flatten().map(|(name, schema)| {
            let shape = Shape::read(schema, depth).unwrap_or_else(Shape::anything);
            let always = is_required(name);
            (name.clone(), LearnedField { always, shape })
        });
        fields.collect()
    }
}
