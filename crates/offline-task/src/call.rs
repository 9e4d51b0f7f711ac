//! One planned call: the tool, the arguments, and the arguments that are missing.

use std::sync::Arc;

use catalog::Entry;
use serde::Serialize;
use serde_json::Value;

use crate::parameters::{Parameter, Role, ValueType};
use crate::python;
use crate::words::WordKind;

/// A planned tool call.
#[derive(Debug)]
pub struct PlannedCall {
    /// The tool.
    pub entry: Arc<Entry>,
    /// By parameter, in the order of the parameters.
    pub arguments: Vec<(String, Argument)>,
    /// Required arguments that the task does not state.
    pub missing: Vec<MissingArgument>,
}

/// The argument of one parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// This value.
    Value(Value),
    /// An earlier step's result.
    Result {
        /// Number of the step, from 1.
        step: usize,
        /// A field of the result; `None` for all of it.
        field: Option<String>,
        /// Pass the result as text.
        as_text: bool,
    },
}

/// A required argument that the task does not state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingArgument {
    /// Name of the parameter.
    pub parameter: String,
    /// How to state the argument.
    pub hint: String,
}

// === impl MissingArgument ===

impl MissingArgument {
    pub(crate) fn of(parameter: &Parameter) -> MissingArgument {
        let shown = match parameter.choices.first().or(parameter.example.as_ref()) {
            Some(text @ Value::String(_)) => python::value(text),
            Some(shown) => shown.to_string(),
            None => placeholder(parameter).to_owned(),
        };
        MissingArgument {
            parameter: parameter.name.clone(),
            hint: format!("say for example {}={shown}", parameter.name),
        }
    }
}

fn placeholder(parameter: &Parameter) -> &'static str {
    match (&parameter.value_type, parameter.role) {
        (ValueType::Number, _) => "5",
        (ValueType::Boolean, _) => "true",
        (ValueType::List, _) => "[\"one\", \"two\"]",
        (_, Role::Is(WordKind::Path)) => "notes.txt",
        (_, Role::Is(WordKind::Date)) => "2026-01-31",
        _ => "'...'",
    }
}
