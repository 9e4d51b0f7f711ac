//! What a model is shown of a run's value and of what it printed.

use std::borrow::Cow;

use serde_json::Value;
use types::{Format, Text};

use super::binary;
use super::service::Executed;
use super::table;

/// Puts markers where a result that the session keeps, or the beginning of one, holds what is no text.
pub(super) fn spare_result(run: &mut Executed) {
    let outcome = &mut run.outcome;
    let Some(kept) = &mut outcome.kept else { return };
    let whole = format!("runtime.result(\"{}\")", kept.name);
    for value in outcome.result.iter_mut().chain(&mut kept.sample) {
        binary::spare_in(value, &whole);
    }
}

/// What was printed, as structured content has it: with markers only where all of it is in a file.
pub(super) fn stream(text: &Text) -> Cow<'_, str> {
    match &text.copy {
        Some(copy) => binary::spare(&text.text, copy),
        None => Cow::Borrowed(&text.text),
    }
}

/// The same for a model, which is never shown what is no text.
pub(super) fn stream_text<'t>(name: &str, text: &'t Text) -> Cow<'t, str> {
    match &text.copy {
        Some(copy) => binary::spare(&text.text, copy),
        None => binary::spare(&text.text, &format!("`{name}` of the structured content")),
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
