//! Token-Oriented Object Notation, for every surface that offers it.

use serde_json::{Map, Value};

/// These fields; `None` if they have no such form.
pub(crate) fn encode(fields: &Map<String, Value>) -> Option<String> {
    let toon = toon_format::encode_default(&Value::Object(fields.clone())).ok()?;
    Some(toon.trim_end_matches('\n').to_owned())
}

/// One value of any kind.
pub(crate) fn encode_value(value: &Value) -> Option<String> {
    let toon = toon_format::encode_default(value).ok()?;
    Some(toon.trim_end_matches('\n').to_owned())
}
