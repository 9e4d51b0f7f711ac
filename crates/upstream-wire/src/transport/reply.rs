//! Carries an answer through the MCP library undecoded: the server's text, or why there is no answer.

use std::time::Duration;

use rmcp::model::{CustomResult, ServerResult};
use serde_json::{Value, json};

use super::reader::RequestFailure;

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The result's text as the server sent it.
    Raw(String),
    /// The answer had this many bytes, more than [`MAX_LINE`](super::MAX_LINE), and was left out.
    TooLarge(u64),
    /// The answer is not a valid message.
    Broken(String),
    /// The server sent no answer.
    Failed(RequestFailure),
}

impl Reply {
    pub(super) fn into_result(self) -> ServerResult {
        ServerResult::CustomResult(CustomResult(match self {
            Reply::Raw(raw) => Value::String(raw),
            Reply::TooLarge(bytes) => json!(bytes),
            Reply::Broken(cause) => json!([cause]),
            Reply::Failed(RequestFailure::Undelivered) => Value::Null,
            Reply::Failed(RequestFailure::Unanswered { cause, again_in }) => {
                let ms = again_in.map(|pause| u64::try_from(pause.as_millis()).unwrap_or(u64::MAX));
                json!({ cause: ms })
            }
        }))
    }

    /// Unwraps the form in which this crate's transport gave the reply to the library.
    pub fn from_result(result: ServerResult) -> Reply {
        let ServerResult::CustomResult(CustomResult(value)) = result else {
            return Reply::Broken("a result that did not come from the pipe".to_owned());
        };
        match value {
            Value::String(raw) => Reply::Raw(raw),
            Value::Null => Reply::Failed(RequestFailure::Undelivered),
            Value::Object(failure) => {
                let (cause, ms) = failure.into_iter().next().unwrap_or_default();
                Reply::Failed(RequestFailure::Unanswered {
                    cause,
                    again_in: ms.as_u64().map(Duration::from_millis),
                })
            }
            Value::Number(bytes) => Reply::TooLarge(bytes.as_u64().unwrap_or(u64::MAX)),
            other => Reply::Broken(
                other
                    .get(0)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned(),
            ),
        }
    }
}
