//! What a tool's definition says: its words by field and its meaning, computed once for each definition.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde_json::Value;
use types::Tool;

use super::embedding::{Sum, Vector};
use super::words::stems;
use crate::schema;
use crate::text::first_sentence;

/// Characters of one field that are read.
pub(super) const MAX_FIELD: usize = 16 * 1024;

/// Definitions that no server lists any more are remembered for so many snapshots: servers come back.
const REMEMBERED: u64 = 16;

/// Fields of a definition, in the order of [`Said::fields`].
pub(super) const OWN_FIELDS: usize = 5;

/// What one definition says.
#[derive(Debug)]
pub(super) struct Said {
    /// The stems of each field with a space between: name, title, description, parameters, values of enumerations.
    pub(super) fields: [Box<str>; OWN_FIELDS],
    /// The meaning of its name, its title, and the first sentence of its description.
    pub(super) meaning: Sum,
    /// The direction of that meaning.
    pub(super) direction: Vector,
}

/// What is known of definitions, by their content.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    said: HashMap<Definition, Remembered>,
    /// How many snapshots have been built.
    snapshot: u64,
}

#[derive(Debug, Clone)]
struct Remembered {
    said: Arc<Said>,
    /// The last snapshot that had it.
    seen: u64,
}

/// A definition as the key that stands for its text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Definition(Arc<Tool>);

impl Hash for Definition {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.definition().get().hash(state);
    }
}

// === impl Said ===

impl Said {
    fn of(definition: &Tool) -> Said {
        let title = definition.title.as_deref().unwrap_or_default();
        let description = definition.description.as_deref().unwrap_or_default();
        let [parameters, values] = of_schema(&definition.input_schema());
        let meant = format!("{} {title} {}", definition.name, first_sentence(description));
        let meaning = Sum::of(&meant[..meant.floor_char_boundary(MAX_FIELD)]);
        Said {
            fields: [
                joined(&stems(&definition.name, MAX_FIELD)),
                joined(&stems(title, MAX_FIELD)),
                joined(&stems(description, MAX_FIELD)),
                joined(&parameters),
                joined(&values),
            ],
            direction: meaning.clone().direction(),
            meaning,
        }
    }
}

/// The words of the parameters' names, and of the values that they may have.
fn of_schema(input: &Value) -> [Vec<String>; 2] {
    let [mut parameters, mut values] = <[Vec<String>; 2]>::default();
    let mut left = MAX_FIELD;
    for parameter in schema::parameters(input) {
        parameters.extend(stems(parameter.name, left));
        left = left.saturating_sub(parameter.name.len());
        let Some(object) = schema::follow(input, parameter.schema).and_then(|s| s.as_object()) else {
            continue;
        };
        let texts = schema::array(object, "enum").iter();
        for value in texts.filter_map(|value| value.as_str()) {
            values.extend(stems(value, left));
            left = left.saturating_sub(value.len());
        }
    }
    [parameters, values]
}

fn joined(stems: &[String]) -> Box<str> {
    stems.join(" ").into_boxed_str()
}

// === impl Known ===

impl Known {
    /// Begins the next snapshot.
    pub(super) fn next(&self) -> Known {
        Known {
            said: self.said.clone(),
            snapshot: self.snapshot + 1,
        }
    }

    /// What a definition says.
    pub(super) fn said(&mut self, definition: &Arc<Tool>) -> Arc<Said> {
        let seen = self.snapshot;
        let remembered = self
            .said
            .entry(Definition(definition.clone()))
            .or_insert_with(|| Remembered {
                said: Arc::new(Said::of(definition)),
                seen,
            });
        remembered.seen = seen;
        remembered.said.clone()
    }

    /// Forgets what has long been gone.
    pub(super) fn settle(&mut self) {
        let oldest = self.snapshot.saturating_sub(REMEMBERED);
        self.said.retain(|_, remembered| remembered.seen >= oldest);
    }
}
