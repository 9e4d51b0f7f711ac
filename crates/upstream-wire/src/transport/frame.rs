//! Classifies a line of a server and decodes it no deeper than its receiver needs.

use std::borrow::Cow;

use rmcp::model::{CustomRequest, ErrorCode, ErrorData, ServerJsonRpcMessage, ServerRequest};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use types::bulk;

use super::lines::id_of;

/// The kinds of line.
#[derive(Debug)]
pub enum Frame {
    /// An answer to a request of ours.
    Answer(JsonRpcResponse),
    /// A request of the server.
    Request(Box<ServerJsonRpcMessage>),
    /// A notification of the server.
    Notification {
        /// Such as `notifications/progress`.
        method: String,
        /// The notification's `params`.
        params: Value,
    },
    /// Meant as a message but invalid: broken JSON, or an answer with neither result nor error.
    Broken {
        /// The number in `id`, if readable.
        id: Option<i64>,
    },
    /// Other output, such as a log line.
    Noise,
}

/// An answer to a request of ours.
#[derive(Debug)]
pub struct JsonRpcResponse {
    /// `None` if the request's `id` is not a number.
    pub id: Option<i64>,
    /// The result's text as received, or the error.
    pub outcome: Result<String, ErrorData>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Frame {
    /// Every line has a meaning.
    pub fn parse(line: &[u8]) -> Frame {
        let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(line) else {
            return Frame::unreadable(line);
        };
        if let Some(method) = envelope.method {
            // Parameters become JSON values, which take more memory than text; results stay text.
            if bulk::check(line, bulk::BUFFERED).is_err() {
                return Frame::Noise;
            }
            return match envelope.id {
                Some(_) => request(line).map_or(Frame::Noise, |request| Frame::Request(Box::new(request))),
                None => Frame::Notification {
                    method: method.into_owned(),
                    params: envelope
                        .params
                        .and_then(|params| serde_json::from_str(params.get()).ok())
                        .unwrap_or_default(),
                },
            };
        }
        let id = envelope.id.and_then(number);
        let outcome = match (envelope.result, envelope.error) {
            (_, Some(error)) => Err(error_data(error)),
            (Some(result), None) => Ok(result.get().to_owned()),
            (None, None) if envelope.id.is_none() => return Frame::Noise,
            (None, None) => return Frame::Broken { id },
        };
        Frame::Answer(JsonRpcResponse { id, outcome })
    }

    fn unreadable(line: &[u8]) -> Frame {
        let names_the_protocol = line.windows(7).any(|word| word == b"jsonrpc");
        if line.trim_ascii_start().first() != Some(&b'{') || !names_the_protocol {
            return Frame::Noise;
        }
        Frame::Broken { id: id_of(line) }
    }
}

/// Parameters stay undecoded: the client may know fields that the library does not.
fn request(line: &[u8]) -> serde_json::Result<ServerJsonRpcMessage> {
    let mut message = serde_json::from_slice(line)?;
    if let ServerJsonRpcMessage::Request(request) = &mut message
        && !matches!(request.request, ServerRequest::PingRequest(_))
    {
        request.request = ServerRequest::CustomRequest(serde_json::from_slice::<CustomRequest>(line)?);
    }
    Ok(message)
}

/// Also if the server sent the id as a string.
fn number(id: &RawValue) -> Option<i64> {
    id.get().trim_matches('"').parse().ok()
}

/// Missing or wrong fields get defaults.
fn error_data(raw: &RawValue) -> ErrorData {
    let is_readable = bulk::check(raw.get().as_bytes(), bulk::READ).is_ok();
    let error = is_readable
        .then(|| serde_json::from_str(raw.get()).ok())
        .flatten();
    let error: Value = error.unwrap_or_default();
    let code = error
        .get("code")
        .and_then(Value::as_i64)
        .and_then(|code| i32::try_from(code).ok());
    let message = match error.get("message").and_then(Value::as_str) {
        Some(message) => message.to_owned(),
        None => raw.get().chars().take(500).collect(),
    };
    ErrorData::new(
        ErrorCode(code.unwrap_or(ErrorCode::INTERNAL_ERROR.0)),
        message,
        error.get("data").cloned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &str) {
        let found = match Frame::parse(line.as_bytes()) {
            Frame::Answer(JsonRpcResponse { id, outcome: Ok(raw) }) => format!("answer {id:?} {raw}"),
            Frame::Answer(JsonRpcResponse {
                id,
                outcome: Err(error),
            }) => {
                format!("error {id:?} {} {}", error.code.0, error.message)
            }
            Frame::Request(_) => "request".to_owned(),
            Frame::Notification { method, params } => format!("notification {method} {params}"),
            Frame::Broken { id } => format!("broken {id:?}"),
            Frame::Noise => "noise".to_owned(),
        };
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn messages_are_distinguished_from_noise() {
        check(
            r#"{"jsonrpc":"2.0","id":1,"result":{"b":1,"a":[2]}}"#,
            r#"answer Some(1) {"b":1,"a":[2]}"#,
        );
        check(
            r#"{"result": 12345678901234567890123 ,"id":"5"}"#,
            "answer Some(5) 12345678901234567890123",
        );
        check(
            r#"{"id":2,"error":{"code":-32602,"message":"no"}}"#,
            "error Some(2) -32602 no",
        );
        check(r#"{"id":2,"error":"why"}"#, r#"error Some(2) -32603 "why""#);
        check(
            r#"{"id":null,"error":{"code":-32700,"message":"?"}}"#,
            "error None -32700 ?",
        );
        check(r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, "request");
        check(
            r#"{"jsonrpc":"2.0","id":7,"method":"x/y","params":{"z":1}}"#,
            "request",
        );
        check(
            r#"{"method":"notifications/progress","params":{"p":1}}"#,
            r#"notification notifications/progress {"p":1}"#,
        );
        check(r#"{"jsonrpc":"2.0","id":3}"#, "broken Some(3)");
        check(r#"{"jsonrpc":"2.0","id":4,"result":null}"#, "broken Some(4)");
        check(r#"{"jsonrpc":"2.0","id":6,"result":{"#, "broken Some(6)");
        check(r#"{"jsonrpc":"2.0", garbage"#, "broken None");
        for noise in [
            "",
            "hello",
            "{",
            "42",
            "[1,2]",
            "null",
            r#"{"level":"info"}"#,
            "\u{7}\u{0}",
        ] {
            check(noise, "noise");
        }
    }
}
