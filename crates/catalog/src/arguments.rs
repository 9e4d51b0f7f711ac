//! Checks a call's arguments by the tool's own schema and explains problems in the program's words.

mod explain;
mod lower;
mod partial;
mod weight;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use lower::{Draft, Lowered};
pub use partial::{Path, StaticArguments};
use weight::weight;

/// Problems named in one message.
const MAX_PROBLEMS: usize = 3;

/// If the arguments have more values than this, only the first mistake is reported.
const EXPLAINED: usize = 10_000;

/// Up to this many values, a check is cheaper than moving it to another thread.
const LIGHT_ARGUMENTS: usize = 10_000;

/// Maximum compiled size of a pattern in bytes; the engine runs in linear time for every pattern.
const MAX_PATTERN: usize = 1024 * 1024;

/// Limit on nodes of arguments times nodes of schema in one check; the worst case takes some seconds.
const MAX_WORK: usize = 2_000_000_000;

/// Why arguments are not sent. Each problem names the parameter and what is expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", problems.join("; "))]
pub struct ArgumentError {
    problems: Vec<String>,
}

/// The compiled check of one tool.
#[derive(Debug)]
pub struct ArgumentValidator {
    validator: Option<Validator>,
    nodes: usize,
    size: usize,
    notes: Vec<String>,
}

// === impl Check ===

impl ArgumentValidator {
    /// Nodes of the compiled check, a measure of its memory.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Parts of the input schema that cannot be checked; empty for nearly every tool.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether [`Entry::validate`](crate::Entry::validate) takes microseconds for these arguments.
    pub fn is_light(&self, arguments: &Value) -> bool {
        weight(arguments, LIGHT_ARGUMENTS) <= LIGHT_ARGUMENTS
    }

    /// Compiles the schema. A constraint that cannot be compiled is omitted and noted; the other constraints remain.
    pub(crate) fn compile(input: &Value) -> Self {
        let draft = draft(input);
        let lowered = lower::lower(input, draft, &|_| true);
        if let Ok(validator) = build(&lowered.schema, draft) {
            return Self::new(Some(validator), lowered);
        }
        // Most often the cause is a pattern with look-around, which the linear engine does not support.
        let mut lowered = lower::lower(input, draft, &compiles);
        match build(&lowered.schema, draft) {
            Ok(validator) => Self::new(Some(validator), lowered),
            Err(()) => {
                lowered
                    .notes
                    .insert("the whole schema, which could not be compiled".to_owned());
                Self::new(None, lowered)
            }
        }
    }

    fn new(validator: Option<Validator>, lowered: Lowered) -> Self {
        Self {
            validator,
            nodes: lowered.nodes,
            size: lowered.size,
            notes: lowered.notes.into_iter().collect(),
        }
    }

    /// Checks `arguments`. `input` returns the schema of this check, to explain problems.
    pub(crate) fn run(&self, input: impl FnOnce() -> Value, arguments: &Value) -> Result<(), ArgumentError> {
        if !arguments.is_object() {
            let given = explain::type_name(arguments);
            return Err(ArgumentError {
                problems: vec![format!(
                    "the arguments must be one mapping of names to values, not {given}"
                )],
            });
        }
        let Some(validator) = &self.validator else {
            return Ok(());
        };
        if self.is_beyond(arguments) {
            let most = self.most();
            return Err(ArgumentError {
                problems: vec![format!(
                    "the arguments hold more than {most} values, more than can be checked"
                )],
            });
        }
        if validator.is_valid(arguments) {
            return Ok(());
        }
        let input = &input();
        // Every item of a long list may be wrong, so report only the first mistake there.
        let mut problems = if weight(arguments, EXPLAINED) <= EXPLAINED {
            explain::problems(input, arguments, validator.iter_errors(arguments))
        } else {
            explain::problems(input, arguments, validator.validate(arguments).err().into_iter())
        };
        if problems.len() > MAX_PROBLEMS {
            let more = problems.len() - MAX_PROBLEMS;
            problems.truncate(MAX_PROBLEMS);
            problems.push(format!("and {more} more"));
        }
        Err(ArgumentError { problems })
    }
}

// === impl Check ===

impl ArgumentValidator {
    /// Values that one check may read.
    fn most(&self) -> usize {
        MAX_WORK / self.nodes.max(1)
    }

    fn is_beyond(&self, arguments: &Value) -> bool {
        weight(arguments, self.most()) > self.most()
    }
}

fn draft(input: &Value) -> Draft {
    match input.get("$schema").and_then(Value::as_str) {
        Some(uri) if uri.contains("draft-0") => Draft::Legacy,
        Some(uri) if uri.contains("2019-09") => Draft::Middle,
        _ => Draft::Current,
    }
}

fn build(schema: &Value, draft: Draft) -> Result<Validator, ()> {
    let draft = match draft {
        Draft::Legacy => jsonschema::Draft::Draft7,
        Draft::Middle => jsonschema::Draft::Draft201909,
        Draft::Current => jsonschema::Draft::Draft202012,
    };
    jsonschema::options()
        .with_draft(draft)
        .should_validate_formats(false)
        .with_pattern_options(
            PatternOptions::regex()
                .size_limit(MAX_PATTERN)
                .dfa_size_limit(MAX_PATTERN),
        )
        .offline()
        .build(schema)
        .map_err(drop)
}

fn compiles(pattern: &str) -> bool {
    build(&serde_json::json!({ "pattern": pattern }), Draft::Current).is_ok()
}

#[cfg(test)]
mod tests;
