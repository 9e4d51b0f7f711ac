//! Targets of references: lowered once per recursion level, and referred to by number.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::{Lowerer, MAX_NESTING, MAX_NODES, Part};

/// Limit on nested references in progress.
const MAX_REFERENCES: usize = 24;

/// Address of a part in the original schema; it identifies the part.
type PartAddress = *const Value;

struct Target {
    part: Part,
    /// Nodes that one check of the target may visit.
    nodes: usize,
    /// Levels of nesting below a reference.
    height: usize,
}

#[derive(Default)]
pub(super) struct Targets {
    lowered: Vec<Target>,
    /// Numbers by address and recursion level.
    numbers: HashMap<(PartAddress, usize), usize>,
    open: Vec<(PartAddress, usize)>,
}

// === impl Targets ===

impl Targets {
    /// The recursion level of a target: one more than the surrounding part's level if the target contains itself.
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

    /// The schema that refers to the numbered part.
    fn refer(&self, number: usize) -> Part {
        Part {
            schema: json!({ "$ref": format!("#/$defs/{number}") }),
            exact: self.lowered[number].part.exact,
        }
    }

    /// Adds all referenced parts to the schema.
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
    /// Refers to `target`. Lowers the target, unless this recursion level already has it.
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
