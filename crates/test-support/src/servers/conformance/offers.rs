//! The resources, prompts and completions that the suite prescribes.

use serde_json::{Value, json};

use super::super::protocol::{Answer, Connection};
use super::INVALID_PARAMS;
use super::content::{self, PNG};
use super::rounds;

pub(super) fn answer(method: &str, params: &Value, _connection: &Connection) -> Option<Answer> {
    Some(Answer::Result(match method {
        "resources/list" => json!({"resources": [
            {
                "uri": "test://static-text", "name": "Static text",
                "description": "A text.", "mimeType": "text/plain",
            },
            {
                "uri": "test://static-binary", "name": "Static image",
                "description": "An image.", "mimeType": "image/png",
            },
        ]}),
        "resources/templates/list" => json!({"resourceTemplates": [{
            "uriTemplate": "test://template/{id}/data", "name": "Data by id",
            "description": "Data of any id.", "mimeType": "application/json",
        }]}),
        "resources/read" => return Some(read(params["uri"].as_str()?)),
        "resources/subscribe" | "resources/unsubscribe" | "logging/setLevel" => json!({}),
        "prompts/list" => json!({"prompts": prompts()}),
        "prompts/get" => return Some(prompt(params)),
        "completion/complete" => {
            let fitting = ["paris", "park", "party"].into_iter();
            let start = params["argument"]["value"].as_str().unwrap_or_default();
            let values: Vec<&str> = fitting.filter(|value| value.starts_with(start)).collect();
            json!({"completion": {"values": values, "total": values.len(), "hasMore": false}})
        }
        _ => return None,
    }))
}

fn read(uri: &str) -> Answer {
    let id = uri
        .strip_prefix("test://template/")
        .and_then(|rest| rest.strip_suffix("/data"));
    let content = match (uri, id) {
        ("test://static-text", _) => json!({
            "uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource.",
        }),
        ("test://static-binary", _) => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
        (_, Some(id)) => {
            let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()})
        }
        _ => {
            return Answer::Refusal(json!({
                "code": INVALID_PARAMS, "message": "Resource not found", "data": {"uri": uri},
            }));
        }
    };
    Answer::Result(json!({"contents": [content]}))
}

fn prompts() -> Value {
    let argument = |name: &str| json!({"name": name, "description": "An argument.", "required": true});
    json!([
        {"name": "test_simple_prompt", "description": "Without arguments."},
        {
            "name": "test_prompt_with_arguments", "description": "With two arguments.",
            "arguments": [argument("arg1"), argument("arg2")],
        },
        {
            "name": "test_prompt_with_embedded_resource", "description": "With a resource.",
            "arguments": [argument("resourceUri")],
        },
        {"name": "test_prompt_with_image", "description": "With an image."},
        {"name": "test_input_required_result_prompt", "description": "Asks before it answers."},
    ])
}

fn prompt(params: &Value) -> Answer {
    let argument = |name: &str| params["arguments"][name].as_str().unwrap_or_default().to_owned();
    let text = |text: String| json!({"type": "text", "text": text});
    let contents = match params["name"].as_str().unwrap_or_default() {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.".to_owned())],
        "test_prompt_with_arguments" => {
            let (first, second) = (argument("arg1"), argument("arg2"));
            vec![text(format!(
                "Prompt with arguments: arg1='{first}', arg2='{second}'"
            ))]
        }
        "test_prompt_with_embedded_resource" => vec![
            content::resource(
                &argument("resourceUri"),
                "text/plain",
                "Embedded resource content for testing.",
            ),
            text("Please process the embedded resource above.".to_owned()),
        ],
        "test_prompt_with_image" => vec![
            content::image(),
            text("Please analyze the image above.".to_owned()),
        ],
        "test_input_required_result_prompt" => match rounds::context(params) {
            Ok(context) => vec![text(format!("Use this context: {context}"))],
            Err(asks) => return asks,
        },
        name => return Answer::Error(INVALID_PARAMS, format!("Unknown prompt: {name}")),
    };
    let messages: Vec<Value> = contents
        .into_iter()
        .map(|content| json!({"role": "user", "content": content}))
        .collect();
    Answer::Result(json!({"messages": messages}))
}
