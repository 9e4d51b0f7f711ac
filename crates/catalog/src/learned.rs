//! What was observed of a tool's results, where the tool declares no output schema: types and keys, never values.

use serde_json::Value;

/// What was observed of one tool's results.
#[derive(Debug, Clone, PartialEq)]
pub struct Learned {
    /// A JSON Schema of the value that a program sees; every observed value is valid by it. It uses these words only:
    /// `type` (a name or a list of names; `properties` and `items` bind those that they fit), `properties` (the keys that
    /// were seen and are no data), `required` (those of them that were always there), `additionalProperties` (a schema:
    /// other keys were seen as well, which are data; where it is absent no other key was ever seen) and `items`.
    /// `{}` is a value that was not looked into.
    pub schema: Value,
    /// Calls that were observed, at least one.
    pub calls: u64,
    /// How many of them came after the one that changed the shape last.
    pub steady: u64,
}
