//! How much there is to look at in a JSON value.

use serde_json::Value;

/// The number of values in `value`, counted no further than just beyond `most`.
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
        // Long texts cost their length where a pattern or a list of values is compared with them.
        Value::String(text) => count += text.len() / 64,
        _ => {}
    }
    count
}
