//! How an answer travels through the MCP library unread: as the text that the server sent, or as why there is none.

use std::time::Duration;

use rmcp::model::{CustomResult, ServerResult};
use serde_json::{Value, json};

use super::Failure;

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The text of the result as received.
    Raw(String),
    /// The answer was a line of so many bytes and was left out.
    TooLarge(u64),
    /// The answer is no message.
    Broken(String),
    /// There will be none.
    Failed(Failure),
}

impl Reply {
    pub(super) fn into_result(self) -> ServerResult {
        ServerResult::CustomResult(CustomResult(match self {
            Reply::Raw(raw) => Value::String(raw),
            Reply::TooLarge(bytes) => json!(bytes),
            Reply::Broken(cause) => json!([cause]),
            Reply::Failed(Failure::Undelivered) => Value::Null,
            Reply::Failed(Failure::Unanswered { cause, again_in }) => {
                let ms = again_in.map(|pause| u64::try_from(pause.as_millis()).unwrap_or(u64::MAX));
                json!({ cause: ms })
            }
        }))
    }

    /// Reads what [`Reply::into_result`] wrote; nothing else passes through the library.
    pub(crate) fn from_result(result: ServerResult) -> Reply {
        let ServerResult::CustomResult(CustomResult(value)) = result else {
            return Reply::Broken("a result that did not come from the pipe".to_owned());
        };
        match value {
            Value::String(raw) => Reply::Raw(raw),
            Value::Null => Reply::Failed(Failure::Undelivered),
            Value::Object(failure) => {
                let (cause, ms) = failure.into_iter().next().unwrap_or_default();
                Reply::Failed(Failure::Unanswered {
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
