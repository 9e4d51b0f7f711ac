//! Tools that ask in rounds and sign the state that the client returns.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::super::protocol::{Answer, ToolCall, text};
use super::questions::{ClientQuestion, elicitation, put, required, sampling};
use super::{INVALID_PARAMS, declared};

/// The fixture's signing key; it protects nothing.
const SECRET: &str = "the secret of the fixture";

pub(super) fn call(call: &ToolCall<'_>) -> Option<Answer> {
    let name = call.name.strip_prefix("test_input_required_result_")?;
    let answer = match name {
        "elicitation" => asking(call, None, &[ask_name()], |answers| {
            format!(
                "Hello, {}!",
                answers[0]["content"]["name"].as_str().unwrap_or_default()
            )
        }),
        "sampling" => {
            let question = sampling("capital_question", "What is the capital of France?", 100);
            asking(call, None, &[question], |answers| {
                answers[0]["content"]["text"].to_string()
            })
        }
        "list_roots" => asking(call, None, &[ask_roots()], |answers| {
            answers[0]["roots"].to_string()
        }),
        "request_state" => noted(call, "confirm", &[confirm()], |_| "state-ok".to_owned()),
        "tampered_state" => noted(call, "untampered", &[confirm()], |_| "state-ok".to_owned()),
        "multiple_inputs" => {
            let questions = [
                ask_name(),
                sampling("greeting", "Generate a greeting", 50),
                ask_roots(),
            ];
            noted(call, "three", &questions, |answers| json!(answers).to_string())
        }
        "multi_round" => rounds(call),
        "capabilities" => {
            let mut questions = vec![sampling("model", "What is the capital of France?", 100)];
            if declared(call, "elicitation") {
                questions.push(ask_name());
            }
            asking(call, None, &questions, |answers| json!(answers).to_string())
        }
        _ => return None,
    };
    Some(answer.unwrap_or_else(|answer| answer))
}

/// The answer that the prompt received.
///
/// # Errors
/// The result that asks for it.
pub(super) fn context(params: &Value) -> Result<String, Answer> {
    let given = params["inputResponses"]["user_context"]["content"]["context"].as_str();
    given.map(str::to_owned).ok_or_else(|| {
        let schema = json!({
            "type": "object", "properties": {"context": {"type": "string"}}, "required": ["context"],
        });
        required(
            &[elicitation(
                "user_context",
                "What context should the prompt use?",
                schema,
            )],
            None,
        )
    })
}

fn asking(
    call: &ToolCall<'_>,
    state: Option<String>,
    questions: &[ClientQuestion],
    said: impl Fn(&[Value]) -> String,
) -> Result<Answer, Answer> {
    let answers = put(call, state, questions)?;
    Ok(text(said(&answers)))
}

/// Asks, and requires the client to return the state.
fn noted(
    call: &ToolCall<'_>,
    note: &str,
    questions: &[ClientQuestion],
    said: impl Fn(&[Value]) -> String,
) -> Result<Answer, Answer> {
    if call.is_modern && is_second(call) {
        notes(call).filter(|notes| notes == note).ok_or_else(forged)?;
    }
    asking(call, Some(sealed(note)), questions, said)
}

fn rounds(call: &ToolCall<'_>) -> Result<Answer, Answer> {
    let [first, second] = [
        "Step 1: What is your name?",
        "Step 2: What is your favorite color?",
    ];
    let step = |key, field: &str, message: &str| {
        let schema = json!({
            "type": "object", "properties": {(field): {"type": "string"}}, "required": [field],
        });
        elicitation(key, message, schema)
    };
    let (first, second) = (step("step1", "name", first), step("step2", "color", second));
    let as_text = |answers: Vec<Value>| text(json!(answers).to_string());
    if !call.is_modern {
        return put(call, None, &[first, second]).map(as_text);
    }
    match is_second(call).then(|| notes(call)) {
        None => put(call, Some(sealed("round 1")), &[first]).map(as_text),
        Some(Some(notes)) if notes == "round 1" => {
            put(call, Some(sealed("round 1")), &[first])?;
            Err(required(&[second], Some(sealed("round 2"))))
        }
        Some(Some(_)) => put(call, Some(sealed("round 2")), &[second]).map(as_text),
        Some(None) => Err(forged()),
    }
}

fn is_second(call: &ToolCall<'_>) -> bool {
    call.params.get("inputResponses").is_some()
}

fn ask_name() -> ClientQuestion {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    elicitation("user_name", "What is your name?", schema)
}

fn confirm() -> ClientQuestion {
    let schema = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
    elicitation("confirm", "Please confirm", schema)
}

fn ask_roots() -> ClientQuestion {
    ClientQuestion {
        key: "client_roots",
        method: "roots/list",
        params: json!({}),
    }
}

fn forged() -> Answer {
    Answer::Error(
        INVALID_PARAMS,
        "`requestState` is not what this server gave".to_owned(),
    )
}

/// The state, if its signature is ours.
fn notes(call: &ToolCall<'_>) -> Option<String> {
    let state = call.params["requestState"].as_str()?;
    let (_, note) = state.split_once(' ')?;
    (sealed(note) == state).then(|| note.to_owned())
}

fn sealed(note: &str) -> String {
    let hash = Sha256::digest(format!("{SECRET} {note}"));
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{hash} {note}")
}
