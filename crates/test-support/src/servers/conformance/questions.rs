//! Tools that ask once: by a server's request in the legacy era, in the call's result in the modern era.

use serde_json::{Value, json};

use super::super::protocol::{Answer, ToolCall, text};

pub(super) struct ClientQuestion {
    /// The tool's key for the answer.
    pub(super) key: &'static str,
    pub(super) method: &'static str,
    pub(super) params: Value,
}

/// The answers by key.
///
/// # Errors
/// The tool's answer for now: a result that asks, or an error.
pub(super) fn put(
    call: &ToolCall<'_>,
    state: Option<String>,
    questions: &[ClientQuestion],
) -> Result<Vec<Value>, Answer> {
    if !call.is_modern {
        let answers = questions
            .iter()
            .map(|question| call.connection.ask(question.method, &question.params));
        return answers
            .map(|mut answer| match answer.get_mut("result") {
                Some(result) => Ok(result.take()),
                None => Err(Answer::Result(json!({
                    "content": [{"type": "text", "text": format!("The client refused: {}", answer["error"])}],
                    "isError": true,
                }))),
            })
            .collect();
    }
    let responses = &call.params["inputResponses"];
    let given = questions.iter().map(|question| responses[question.key].clone());
    let given: Vec<Value> = given.filter(Value::is_object).collect();
    if given.len() == questions.len() {
        return Ok(given);
    }
    Err(required(questions, state))
}

pub(super) fn required(questions: &[ClientQuestion], state: Option<String>) -> Answer {
    let requests: serde_json::Map<String, Value> = questions
        .iter()
        .map(|question| {
            let request = json!({"method": question.method, "params": question.params});
            (question.key.to_owned(), request)
        })
        .collect();
    let mut result = json!({"resultType": "input_required", "inputRequests": requests});
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    Answer::Result(result)
}

pub(super) fn elicitation(key: &'static str, message: &str, schema: Value) -> ClientQuestion {
    ClientQuestion {
        key,
        method: "elicitation/create",
        params: json!({"message": message, "requestedSchema": schema}),
    }
}

pub(super) fn sampling(key: &'static str, prompt: &str, tokens: u32) -> ClientQuestion {
    let content = json!({"type": "text", "text": prompt});
    ClientQuestion {
        key,
        method: "sampling/createMessage",
        params: json!({"messages": [{"role": "user", "content": content}], "maxTokens": tokens}),
    }
}

pub(super) fn call(call: &ToolCall<'_>) -> Option<Answer> {
    let argument = |name: &str| {
        call.arguments[name]
            .as_str()
            .unwrap_or("Please answer")
            .to_owned()
    };
    let (question, said) = match call.name {
        "test_sampling" => (sampling("answer", &argument("prompt"), 100), "LLM response"),
        "test_elicitation" | "test_streaming_elicitation" => {
            let field = |of: &str| json!({"type": "string", "description": format!("User's {of}")});
            let schema = json!({
                "type": "object",
                "properties": {"username": field("response"), "email": field("email address")},
                "required": ["username", "email"],
            });
            (
                elicitation("answer", &argument("message"), schema),
                "User response",
            )
        }
        "test_elicitation_sep1034_defaults" => (
            elicitation("answer", "Please check these values", defaults()),
            "Elicitation completed",
        ),
        "test_elicitation_sep1330_enums" => (
            elicitation("answer", "Please choose", choices()),
            "Elicitation completed",
        ),
        _ => return None,
    };
    Some(match put(call, None, &[question]) {
        Ok(answers) => text(format!("{said}: {}", answers[0])),
        Err(answer) => answer,
    })
}

fn defaults() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": true},
        },
    })
}

fn choices() -> Value {
    let titled =
        |values: [(&str, &str); 3]| values.map(|(value, title)| json!({"const": value, "title": title}));
    let options = ["option1", "option2", "option3"];
    let first = [
        ("value1", "First Option"),
        ("value2", "Second Option"),
        ("value3", "Third Option"),
    ];
    let several = [
        ("value1", "First Choice"),
        ("value2", "Second Choice"),
        ("value3", "Third Choice"),
    ];
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": options},
            "titledSingle": {"type": "string", "oneOf": titled(first)},
            "legacyEnum": {
                "type": "string", "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled(several)}},
        },
    })
}
