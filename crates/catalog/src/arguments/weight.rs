//! The size of a JSON value, as the cost of checking it.

use serde_json::Value;

/// Number of values in `value`; counting stops just beyond `most`.
pub(crate) fn weight(value: &Value, most: usize) -> usize {
    let mut count = 1;
    match value {
        Value::Array(items) => {
            for item in items {
                if count > most {
                    break;
                }
                count += weight(item, most - count);
            }
        }
        Value::Object(members) => {
            for member in members.values() {
                if count > most {
                    break;
                }
                count += weight(member, most - count);
            }
        }
        // Where a pattern or an enumeration is compared with a text, the cost grows with its
        // length.
        Value::String(text) => count += text.len() / 64,
        _ => {}
    }
    count
}
