//! A run's value as text for a model.

use serde_json::Value;
use types::Format;

use super::table;
use crate::report::RunReport;
use crate::{binary, toon};

/// Replaces binary content by markers in a result kept in the session, and in its sample.
pub(super) fn replace_binary(run: &mut RunReport) {
    let outcome = &mut run.outcome;
    let Some(handle) = &mut outcome.kept else { return };
    let place = format!("all of it: runtime.result(\"{}\")", handle.name);
    for value in outcome.result.iter_mut().chain(&mut handle.sample) {
        binary::replace_in(value, &place);
    }
}

/// A string unchanged, a table as a table, any other value as JSON.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => table::render(other).unwrap_or_else(|| other.to_string()),
    }
}

/// The value as text in the given format.
pub fn value_text(value: &Value, format: Format) -> String {
    match format {
        Format::Text => plain(value),
        Format::Toon => toon::encode(value).unwrap_or_else(|| value.to_string()),
        Format::Json => value.to_string(),
    }
}
