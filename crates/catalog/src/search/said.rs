//! The text of a tool's definition: its words by field and its meaning, computed once per definition.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use types::Tool;

use super::embedding::{Sum, Vector};
use super::words::stems;
use crate::entry::Entry;
use crate::schema;
use crate::text::first_sentence;

/// Limit on bytes read per field.
pub(super) const MAX_FIELD: usize = 16 * 1024;

/// Bytes of a description that count for its meaning; examples usually come later.
const MAX_DESCRIBED: usize = 2_000;

/// Number of snapshots for which an unlisted definition is kept, because servers often return.
const REMEMBERED: u64 = 16;

/// Limit on the bytes of all unlisted definitions; those unlisted longest are dropped first.
const MAX_REMEMBERED: usize = 8 * 1024 * 1024;

/// Number of [`DefinitionText::fields`].
pub(super) const OWN_FIELDS: usize = 5;

#[derive(Debug)]
pub(super) struct DefinitionText {
    /// The stems of each field, separated by spaces: name, title, description, parameters, values of
    /// enumerations.
    pub(super) fields: [Box<str>; OWN_FIELDS],
    /// The meaning of name, title, and first sentence of the description.
    pub(super) meaning: Sum,
    /// The direction of the whole description.
    pub(super) described: Vector,
    /// The direction of `meaning`.
    pub(super) direction: Vector,
}

/// Definitions by fingerprint.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    said: HashMap<String, Remembered>,
    snapshot: u64,
}

#[derive(Debug, Clone)]
struct Remembered {
    said: Arc<DefinitionText>,
    /// The last snapshot that had the definition.
    seen: u64,
}

// === impl DefinitionText ===

impl DefinitionText {
    fn of(definition: &Tool) -> DefinitionText {
        let title = definition.title.as_deref().unwrap_or_default();
        let description = definition.description.as_deref().unwrap_or_default();
        let [parameters, values] = of_schema(&definition.input_schema());
        let meant = format!("{} {title} {}", definition.name, first_sentence(description));
        let meaning = Sum::of(&meant[..meant.floor_char_boundary(MAX_FIELD)]);
        let described = &description[..description.floor_char_boundary(MAX_DESCRIBED)];
        DefinitionText {
            described: Sum::of(described).direction(),
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

    /// Size in bytes.
    fn size(&self) -> usize {
        size_of::<DefinitionText>() + self.fields.iter().map(|field| field.len()).sum::<usize>()
    }
}

/// The words of the parameters' names and of their possible values.
fn of_schema(input: &Value) -> [Vec<String>; 2] {
    let [mut parameters, mut values] = <[Vec<String>; 2]>::default();
    let mut left = MAX_FIELD;
    for parameter in schema::properties(input, input).0 {
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
    pub(super) fn next(&self) -> Known {
        Known {
            said: self.said.clone(),
            snapshot: self.snapshot + 1,
        }
    }

    pub(super) fn said(&mut self, entry: &Entry) -> Arc<DefinitionText> {
        let seen = self.snapshot;
        if let Some(remembered) = self.said.get_mut(entry.fingerprint()) {
            remembered.seen = seen;
            return remembered.said.clone();
        }
        let said = Arc::new(DefinitionText::of(&entry.definition));
        let remembered = Remembered {
            said: said.clone(),
            seen,
        };
        self.said.insert(entry.fingerprint().to_owned(), remembered);
        said
    }

    /// Drops definitions that have long been unlisted, and more of them if they take too much memory.
    pub(super) fn settle(&mut self) {
        let mut gone: Vec<(u64, usize)> = self
            .said
            .values()
            .filter(|remembered| remembered.seen < self.snapshot)
            .map(|remembered| (remembered.seen, remembered.said.size()))
            .collect();
        gone.sort_unstable_by_key(|(seen, _)| Reverse(*seen));
        let mut oldest = self.snapshot.saturating_sub(REMEMBERED);
        let mut bytes = 0usize;
        for (seen, size) in gone {
            bytes = bytes.saturating_add(size);
            if bytes > MAX_REMEMBERED {
                oldest = oldest.max(seen + 1);
                break;
            }
        }
        self.said.retain(|_, remembered| remembered.seen >= oldest);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;
    use types::ToolRef;

    use super::*;

    /// A long definition that differs from snapshot to snapshot.
    fn entry(number: usize, snapshot: u64) -> Entry {
        let description = format!("v{snapshot} {}", "lengthy words ".repeat(1_100));
        let definition = json!({"name": format!("t{number}"), "description": description, "inputSchema": {}});
        let tool = Arc::new(Tool::parse(to_raw_value(&definition).expect("JSON")).expect("a definition"));
        let name = tool.name.clone();
        Entry::new(ToolRef::new("stub", &name), "stub".to_owned(), name, tool)
    }

    #[test]
    fn what_changes_each_time_is_remembered_within_a_bound() {
        let mut known = Known::default();
        let mut most = 0;
        for snapshot in 0..REMEMBERED + 2 {
            known = known.next();
            for number in 0..100 {
                known.said(&entry(number, snapshot));
            }
            known.settle();
            let gone = known.said.values().filter(|said| said.seen < known.snapshot);
            most = most.max(gone.map(|remembered| remembered.said.size()).sum());
        }
        assert!((1..=MAX_REMEMBERED).contains(&most), "{most} bytes");
    }
}
