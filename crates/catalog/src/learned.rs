//! What was observed of a tool's results, where the tool declares no output schema: types and keys, never values.

mod drift;
mod names;
mod shape;
mod value;

use std::collections::BTreeSet;

use serde_json::Value;

pub use drift::{Drift, DriftKind, declared_drift};
pub use value::{LARGEST_RESULT, blocks_beside, seen};

use shape::Shape;

/// Calls without a change of the shape from which on it is taken for settled.
pub const SETTLED: u64 = 50;

/// The word of a schema for the blocks beside the value.
const BLOCKS: &str = "contentBlocks";

/// What was observed of one tool's results.
#[derive(Debug, Clone, PartialEq)]
pub struct Learned {
    /// A JSON Schema of the value that a program sees; every observed value is valid by it. It uses these words only:
    /// `type` (a name or a list of names; `properties` and `items` bind those that they fit), `properties` (the keys that
    /// were seen and are no data), `required` (those of them that were always there), `additionalProperties` (a schema:
    /// other keys were seen as well, which are data; where it is absent no other key was ever seen) and `items` (absent
    /// where no list had an item). `{}` is a value that was not looked into. Beside these the schema itself may have
    /// `contentBlocks`: the kinds of blocks that came with the value and are no text, sorted.
    pub schema: Value,
    /// Calls that were observed, at least one.
    pub calls: u64,
    /// How many of them came after the one that changed the shape last and had arguments that were not seen before.
    pub steady: u64,
}

// === impl Learned ===

impl Learned {
    /// What one result tells: the value as a program sees it.
    pub fn of(value: &Value) -> Learned {
        Learned {
            schema: Shape::of(value).bounded().schema(),
            calls: 1,
            steady: 0,
        }
    }

    /// The same of a result with blocks of these kinds beside its value.
    #[must_use]
    pub fn with_blocks(mut self, kinds: Vec<String>) -> Learned {
        note_blocks(&mut self.schema, kinds);
        self
    }

    /// The kinds of blocks that came with the value and are no text.
    pub fn blocks(&self) -> Vec<String> {
        let kinds = self.schema[BLOCKS].as_array().into_iter().flatten();
        kinds.filter_map(|kind| Some(kind.as_str()?.to_owned())).collect()
    }

    /// What both tell together, `later` having been observed after `self` with arguments that were not seen before.
    pub fn merge(&self, later: &Learned) -> Learned {
        self.merge_confirmed(later, later.calls)
    }

    /// What both tell together, `later` having been observed after `self`. Where it changes nothing, so many of its calls
    /// confirm the shape: those that do not only repeat a call.
    pub fn merge_confirmed(&self, later: &Learned, confirming: u64) -> Learned {
        if self.schema == later.schema {
            return Learned {
                schema: self.schema.clone(),
                calls: self.calls + later.calls,
                steady: self.steady + confirming,
            };
        }
        let merged = Shape::of_schema(&self.schema).merge(Shape::of_schema(&later.schema));
        let kinds: BTreeSet<String> = self.blocks().into_iter().chain(later.blocks()).collect();
        let mut schema = merged.bounded().schema();
        note_blocks(&mut schema, kinds.into_iter().collect());
        let steady = if schema == self.schema {
            self.steady + confirming
        } else {
            later.steady
        };
        Learned {
            schema,
            calls: self.calls + later.calls,
            steady,
        }
    }

    /// Whether enough calls have confirmed the shape that another one is worth telling.
    pub fn is_settled(&self) -> bool {
        self.steady >= SETTLED
    }

    /// Where a value differs from what was observed so far.
    pub fn drift(&self, value: &Value) -> Vec<Drift> {
        drift::learned(&self.schema, value)
    }
}

fn note_blocks(schema: &mut Value, kinds: Vec<String>) {
    if !kinds.is_empty() {
        schema[BLOCKS] = kinds.into();
    }
}

#[cfg(test)]
mod tests;
