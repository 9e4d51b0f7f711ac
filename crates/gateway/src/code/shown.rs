//! What a model is shown of a run's value.

use serde_json::Value;
use types::Format;

use super::binary;
use super::service::Executed;
use super::table;

/// Replaces binary content by markers in a result that the session keeps, and in the sample of one.
pub(super) fn spare_result(run: &mut Executed) {
    let outcome = &mut run.outcome;
    let Some(kept) = &mut outcome.kept else { return };
    let place = format!("all of it: runtime.result(\"{}\")", kept.name);
    for value in outcome.result.iter_mut().chain(&mut kept.sample) {
        binary::spare_in(value, &place);
    }
}

/// A string as it is, a table as a table, everything else as JSON.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => table::render(other).unwrap_or_else(|| other.to_string()),
    }
}

/// One value in a form.
pub fn value_text(value: &Value, format: Format) -> String {
    match format {
        Format::Text => plain(value),
        Format::Toon => crate::toon::encode(value).unwrap_or_else(|| value.to_string()),
        Format::Json => value.to_string(),
    }
}
