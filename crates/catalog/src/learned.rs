//! The observed shape of a tool's results if the tool declares no output schema.
//!
//! A shape has types and keys, never values.

mod drift;
mod names;
mod shape;
mod value;

use std::collections::BTreeSet;

use serde_json::Value;

pub use drift::{Drift, DriftKind, declared_drift};
pub use value::{MAX_LEARNED_RESULT, other_block_kinds, program_value};

use shape::Shape;

/// Number of calls without a change after which a shape counts as settled.
pub const CALLS_UNTIL_STABLE: u64 = 50;

/// The schema keyword for content blocks in addition to the value.
const BLOCKS: &str = "contentBlocks";

/// The observed shape of one tool's results.
#[derive(Debug, Clone, PartialEq)]
pub struct Learned {
    /// A JSON Schema of the value that programs see. Every observed value is valid by it. It uses only these
    /// keywords:
    ///
    /// - `type`: a name or a list of names; `properties` and `items` bind the types that they fit.
    /// - `properties`: observed keys that are names, not data.
    /// - `required`: those of them that were always there.
    /// - `additionalProperties`: a schema for observed keys that are data; absent if there were none.
    /// - `items`: absent if no list had an item.
    /// - `contentBlocks`, only at the root: kinds of blocks, other than text, that came with the value;
    ///   sorted.
    ///
    /// `{}` is a value whose inside was not read.
    pub schema: Value,
    /// Observed calls, at least one.
    pub calls: u64,
    /// Calls since the last change of the shape, with arguments not seen before.
    pub steady: u64,
}

// === impl Learned ===

impl Learned {
    /// Learns from one result: the value as a program sees it.
    pub fn of(value: &Value) -> Learned {
        Learned {
            schema: Shape::of(value).bounded().schema(),
            calls: 1,
            steady: 0,
        }
    }

    /// Adds the kinds of content blocks that came with the value.
    #[must_use]
    pub fn with_blocks(mut self, kinds: Vec<String>) -> Learned {
        note_blocks(&mut self.schema, kinds);
        self
    }

    /// The kinds of blocks, other than text, that came with the value.
    pub fn blocks(&self) -> Vec<String> {
        let kinds = self.schema[BLOCKS].as_array().into_iter().flatten();
        kinds.filter_map(|kind| Some(kind.as_str()?.to_owned())).collect()
    }

    /// Merges two shapes. `later` was observed after `self`, with new arguments.
    pub fn merge(&self, later: &Learned) -> Learned {
        self.merge_confirmed(later, later.calls)
    }

    /// Merges two shapes; `later` was observed after `self`. If the shape stays the same, `confirming` of its calls
    /// count as confirmation: the calls that do not repeat an earlier call.
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

    /// Whether enough calls have confirmed the shape for a difference to be worth reporting.
    pub fn is_settled(&self) -> bool {
        self.steady >= CALLS_UNTIL_STABLE
    }

    /// Where a value differs from the observed shape.
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
