//! The definitions of the tools, as the suite prescribes them.

use serde_json::{Value, json};

use super::super::protocol::tool;

/// In a fixed order.
pub(super) fn tools() -> Vec<Value> {
    let plain = [
        ("test_simple_text", "Returns a text."),
        ("test_image_content", "Returns an image."),
        ("test_audio_content", "Returns a sound."),
        ("test_embedded_resource", "Returns a resource."),
        (
            "test_multiple_content_types",
            "Returns a text, an image and a resource.",
        ),
        ("test_error_handling", "Always reports an error."),
        ("test_tool_with_progress", "Reports progress."),
        ("test_tool_with_logging", "Logs three messages."),
        (
            "test_logging_tool",
            "Logs a message to those who asked for messages.",
        ),
        ("test_trigger_tool_change", "Says that the tools have changed."),
        (
            "test_trigger_prompt_change",
            "Says that the prompts have changed.",
        ),
        ("test_missing_capability", "Works for clients that sample."),
        ("test_reconnection", "Returns a text."),
        ("test_streaming_elicitation", "Asks a person something."),
        ("test_elicitation_sep1034_defaults", "Asks with default values."),
        (
            "test_elicitation_sep1330_enums",
            "Asks with every kind of choice.",
        ),
        ("test_input_required_result_elicitation", "Asks for a name."),
        ("test_input_required_result_sampling", "Asks a model."),
        ("test_input_required_result_list_roots", "Asks for roots."),
        (
            "test_input_required_result_request_state",
            "Asks and keeps notes.",
        ),
        (
            "test_input_required_result_multiple_inputs",
            "Asks three things at once.",
        ),
        ("test_input_required_result_multi_round", "Asks twice."),
        (
            "test_input_required_result_tampered_state",
            "Takes only its own notes back.",
        ),
        (
            "test_input_required_result_capabilities",
            "Asks only what the client can answer.",
        ),
    ];
    let plain = plain
        .into_iter()
        .map(|(name, description)| tool(name, description, &[]));
    plain
        .chain([
            tool("test_sampling", "Asks a model.", &["prompt:string"]),
            tool("test_elicitation", "Asks a person.", &["message:string"]),
            json!({
                "name": "json_schema_2020_12_tool",
                "description": "Tool with JSON Schema 2020-12 features",
                "inputSchema": json_schema(),
            }),
            json!({
                "name": "test_custom_headers",
                "description": "Takes an argument that HTTP repeats in a header.",
                "inputSchema": {
                    "type": "object",
                    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
                },
            }),
        ])
        .collect()
}

/// A schema with keywords that a library may not know.
fn json_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}
