//! Encodes Token-Oriented Object Notation for every surface that offers it.

use serde_json::Value;

/// Encodes the value; `None` if TOON cannot represent it.
pub(crate) fn encode(value: &Value) -> Option<String> {
    let toon = toon_format::encode_default(value).ok()?;
    Some(toon.trim_end_matches('\n').to_owned())
}
