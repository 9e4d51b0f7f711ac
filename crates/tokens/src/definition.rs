//! What a model is sent of a tool: its name, its description and its input schema.

use serde_json::{Value, json};

/// The three fields of a definition that reach a model. Titles, annotations and output schemas do not.
pub(crate) fn model_view(definition: &Value) -> Value {
    json!({
        "name": definition["name"],
        "description": definition["description"],
        "inputSchema": definition["inputSchema"],
    })
}
