//! What references name: each part is lowered once for every level of its recursion, and referred to by number.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::{Lowerer, MAX_NESTING, MAX_NODES, Part};

/// References under way at once.
const MAX_REFERENCES: usize = 24;

/// Where in the original schema a part stands, which says which part it is.
type PartAddress = *const Value;

/// A part that a reference names, lowered.
struct Target {
    part: Part,
    /// Nodes that one check of it may pass.
    nodes: usize,
    /// Levels of nesting below a reference to it.
    height: usize,
}

/// The parts that were lowered, and those that are under way.
#[derive(Default)]
pub(super) struct Targets {
    lowered: Vec<Target>,
    /// Numbers by place and level.
    numbers: HashMap<(PartAddress, usize), usize>,
    open: Vec<(PartAddress, usize)>,
}

// === impl Targets ===

impl Targets {
    /// The level of a part that is named here: one more than that of the part around it if it holds itself.
    fn level(&self, place: PartAddress) -> usize {
        let level = self.open.last().map_or(0, |(_, level)| *level);
        level + usize::from(self.open.contains(&(place, level)))
    }

    fn add(&mut self, key: (PartAddress, usize), target: Target) -> usize {
        let number = self.lowered.len();
        self.lowered.push(target);
        self.numbers.insert(key, number);
        number
    }

    /// The schema of a reference to the part of this number.
    fn refer(&self, number: usize) -> Part {
        Part {
            schema: json!({ "$ref": format!("#/$defs/{number}") }),
            exact: self.lowered[number].part.exact,
        }
    }

    /// The schema with all parts that it refers to.
    pub(super) fn beside(self, schema: Value) -> Value {
        let Value::Object(mut schema) = schema else {
            return schema;
        };
        let parts = self.lowered.into_iter().enumerate();
        let parts: Map<String, Value> = parts
            .map(|(number, target)| (number.to_string(), target.part.schema))
            .collect();
        if !parts.is_empty() {
            schema.insert("$defs".to_owned(), Value::Object(parts));
        }
        Value::Object(schema)
    }
}

// === impl Lowerer ===

impl<'a> Lowerer<'a> {
    /// A reference to `target`, which is lowered if it was not yet on this level of recursion.
    pub(super) fn target(&mut self, target: &'a Value) -> Part {
        let place = std::ptr::from_ref(target);
        let key = (place, self.targets.level(place));
        if key.1 > self.recursion || self.targets.open.len() >= MAX_REFERENCES {
            return self.left_out("the deeper levels of recursive parts".to_owned());
        }
        let Some(&number) = self.targets.numbers.get(&key) else {
            let number = self.lower_target(key, target);
            return self.targets.refer(number);
        };
        let Target { nodes, height, .. } = self.targets.lowered[number];
        if self.nodes + nodes > MAX_NODES || self.nesting + height > MAX_NESTING {
            self.is_full = true;
            return self.beyond();
        }
        self.nodes += nodes;
        self.deepest = self.deepest.max(self.nesting + height);
        self.targets.refer(number)
    }

    fn lower_target(&mut self, key: (PartAddress, usize), target: &'a Value) -> usize {
        let (nodes, deepest) = (self.nodes, self.deepest);
        let path = std::mem::take(&mut self.path);
        self.deepest = self.nesting;
        self.targets.open.push(key);
        let part = self.part(target);
        self.targets.open.pop();
        self.path = path;
        let target = Target {
            part,
            nodes: self.nodes - nodes,
            height: self.deepest - self.nesting,
        };
        self.deepest = self.deepest.max(deepest);
        self.targets.add(key, target)
    }
}
