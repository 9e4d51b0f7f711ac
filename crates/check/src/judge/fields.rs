//! Finds missing fields of results, by the declared or observed shape.

use std::collections::HashMap;
use std::sync::Arc;

use catalog::{Entry, Learned, NoField, nearest, no_field, python_string};
use serde_json::Value;

use super::{MAX_NAME, View, label};
use crate::program::{Call, Program, Use};
use crate::report::{Certainty, Finding};

/// Attributes that any result may have.
const BESIDE: [&str; 2] = ["content", "raw"];

/// After this many calls without a change of the shape, a field that was never seen is an error.
const STEADY: u64 = 5;

/// Fields listed when none is near.
const MAX_LISTED: usize = 12;

enum Shape {
    Declared(Value),
    Learned(Arc<Learned>),
}

/// Finds uses of fields that no result has. `entries` holds the tool of each call.
pub(super) fn judge(program: &Program, entries: &[Option<Arc<Entry>>], view: &View<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut shapes: HashMap<usize, Option<Shape>> = HashMap::new();
    for used in &program.uses {
        let Some(Some(entry)) = entries.get(used.call) else {
            continue;
        };
        let shape = shapes.entry(used.call).or_insert_with(|| Shape::of(entry, view));
        let finding = shape
            .as_ref()
            .and_then(|shape| shape.finding(used, &program.calls[used.call]));
        findings.extend(finding);
    }
    findings
}

// === impl Shape ===

impl Shape {
    fn of(entry: &Entry, view: &View<'_>) -> Option<Shape> {
        match entry.definition.output_schema() {
            Some(schema) => Some(Shape::Declared(schema)),
            None => (view.learned)(entry).map(Shape::Learned),
        }
    }

    fn schema(&self) -> &Value {
        match self {
            Shape::Declared(schema) => schema,
            Shape::Learned(learned) => &learned.schema,
        }
    }

    fn finding(&self, used: &Use, call: &Call) -> Option<Finding> {
        // An observed shape describes the value; the blocks are beside it.
        if matches!(self, Shape::Learned(_)) && used.path.is_empty() && BESIDE.contains(&&*used.field) {
            return None;
        }
        let missing = no_field(self.schema(), &used.path, &used.field)?;
        let weight = match self {
            Shape::Learned(learned) if learned.steady < STEADY => Certainty::Warning,
            _ => Certainty::Error,
        };
        let seen = match self {
            Shape::Declared(_) => String::new(),
            Shape::Learned(learned) => format!(" (observed in {} calls)", learned.calls),
        };
        let field = python_string(&used.field, MAX_NAME);
        let (what, tool) = (what(used), label(call));
        let text = match missing {
            NoField::Others(names) => {
                let instead = match nearest(&used.field, names.iter().map(String::as_str)) {
                    Some(near) => format!("write {}", python_string(near, MAX_NAME)),
                    None => format!("it has {}", listed(&names)),
                };
                format!("{what} of {tool} has no field {field}; {instead}{seen}")
            }
            NoField::List => format!(
                "{what} of {tool} is a list and has no field {field}; take one item of it first, as in [0]{seen}"
            ),
            NoField::Plain(kind) => format!("{what} of {tool} is {kind} and has no field {field}{seen}"),
        };
        Some(Finding {
            line: used.line,
            weight,
            text,
        })
    }
}

/// Names the part of a result.
fn what(used: &Use) -> String {
    if used.path.is_empty() {
        return "the result".to_owned();
    }
    let mut place = String::new();
    for step in used.path.iter() {
        match step {
            catalog::Step::Key(key) => place.push_str(&format!("[{}]", python_string(key, MAX_NAME))),
            catalog::Step::Item => place.push_str("[0]"),
        }
    }
    format!("{place} in the result")
}

fn listed(names: &[String]) -> String {
    let mut told: Vec<String> = names
        .iter()
        .take(MAX_LISTED)
        .map(|name| python_string(name, MAX_NAME))
        .collect();
    if names.len() > MAX_LISTED {
        told.push("...".to_owned());
    }
    told.join(", ")
}
