//! The size of a JSON value, as the cost of checking it.

use serde_json::Value;

/// Number of values in `value`; counting stops just above `most`.
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
        // The cost of comparing a text with a pattern or an enumeration grows with the text's length.
        Value::String(text) => count += text.len() / 64,
        _ => {}
    }
    count
}
