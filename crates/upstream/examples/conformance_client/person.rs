//! A person who agrees to everything that a server asks, with the suggested values.

use serde_json::{Map, Value, json};
use upstream_wire::{ClientResponse, DownstreamClient, JsonRpcError};

#[derive(Debug)]
pub(crate) struct Person;

pub(crate) fn capabilities() -> Map<String, Value> {
    Map::from_iter([("elicitation".to_owned(), json!({"form": {}}))])
}

/// Answers the questions of one round.
pub(crate) fn answers(questions: &Value) -> Value {
    let questions = questions.as_object().cloned().unwrap_or_default();
    let answers = questions
        .into_iter()
        .map(|(key, question)| (key, agreed(&question["params"])));
    Value::Object(answers.collect())
}

/// Fills in a form with its defaults.
fn agreed(params: &Value) -> Value {
    let fields = params["requestedSchema"]["properties"].as_object();
    let values = fields.into_iter().flatten().filter_map(|(name, field)| {
        let value = match (&field["default"], field["type"].as_str()) {
            (Value::Null, Some("boolean")) => json!(true),
            (Value::Null, _) => return None,
            (default, _) => default.clone(),
        };
        Some((name.clone(), value))
    });
    json!({"action": "accept", "content": Map::from_iter(values)})
}

impl DownstreamClient for Person {
    fn capabilities(&self) -> Map<String, Value> {
        capabilities()
    }

    fn ask(&self, _server: &str, method: String, params: Option<Value>) -> ClientResponse<'_> {
        Box::pin(async move {
            match method.as_str() {
                "elicitation/create" => Ok(agreed(&params.unwrap_or_default())),
                _ => Err(JsonRpcError {
                    code: -32601,
                    message: format!("{method} is not answered here"),
                    data: None,
                }),
            }
        })
    }

    fn log_level(&self) -> Option<String> {
        None
    }

    fn tell(&self, _server: &str, _method: &str, _params: &Value) {}
}
