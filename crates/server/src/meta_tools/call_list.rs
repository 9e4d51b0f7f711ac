//! Lists the tool calls of one run, for its result.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use broker::{CallEnd, CallObserver, ObservedCall};
use sandbox::BoxFuture;
use serde_json::Value;
use serde_json::value::RawValue;
use surfaces::{MadeCall, MadeCalls};
use types::ToolRef;

/// Calls that a result lists; its metrics count all.
const MAX_LISTED: usize = 1_000;

/// Characters of a name and of an error.
const MAX_NAME: usize = 256;
const MAX_ERROR: usize = 2_000;

/// Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct CallList(Arc<Mutex<MadeCalls>>);

struct OpenCall {
    list: CallList,
    started_at: SystemTime,
    began: Instant,
}

// === impl CallList ===

impl CallList {
    /// Returns the calls so far, and forgets them.
    pub(super) fn take(&self) -> MadeCalls {
        let mut calls = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        calls.listed.sort_by_key(|call| call.started_at);
        calls
    }

    fn add(&self, call: MadeCall) {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.latencies.push(call.latency);
        calls.failed += usize::from(call.error.is_some());
        if calls.listed.len() < MAX_LISTED {
            calls.listed.push(call);
        }
    }
}

impl CallObserver for CallList {
    fn begin<'a>(&'a self, _arguments: &'a Value) -> BoxFuture<'a, Box<dyn ObservedCall>> {
        let call = OpenCall {
            list: self.clone(),
            started_at: SystemTime::now(),
            began: Instant::now(),
        };
        Box::pin(async move { Box::new(call) as Box<dyn ObservedCall> })
    }
}

impl ObservedCall for OpenCall {
    fn end<'a>(self: Box<Self>, tool: &'a ToolRef, end: CallEnd<'a>) -> BoxFuture<'a, ()> {
        let error = match end {
            CallEnd::Answered(_) | CallEnd::ToolFile => None,
            CallEnd::ToolError(answer) => Some(text_of(answer)),
            CallEnd::Failed(message) => Some(message.to_owned()),
            CallEnd::Cancelled => Some("the run ended before the answer".to_owned()),
        };
        let name = match tool.server.as_str() {
            "" => tool.tool.clone(),
            server => format!("{server}/{}", tool.tool),
        };
        self.list.add(MadeCall {
            name: cut(&name, MAX_NAME),
            started_at: self.started_at,
            latency: self.began.elapsed(),
            error: error.map(|error| cut(&error, MAX_ERROR)),
        });
        Box::pin(std::future::ready(()))
    }
}

/// The text of a `CallToolResult` that reports an error.
fn text_of(answer: &RawValue) -> String {
    let answer: Value = serde_json::from_str(answer.get()).unwrap_or_default();
    let texts: Vec<&str> = answer["content"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|block| block["text"].as_str())
        .collect();
    match texts.is_empty() {
        true => "the tool reported an error".to_owned(),
        false => texts.join("\n"),
    }
}

fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;

    use super::*;

    async fn made(end: CallEnd<'_>) -> MadeCalls {
        let list = CallList::default();
        let call = list.begin(&Value::Null).await;
        call.end(&ToolRef::new("stub", "add"), end).await;
        list.take()
    }

    #[tokio::test]
    async fn s0_21_each_end_has_its_error() {
        let answer = |text: &str| {
            to_raw_value(&serde_json::json!({"content": [{"type": "text", "text": text}], "isError": true}))
                .unwrap()
        };
        let (nope, empty) = (answer("nope"), to_raw_value(&serde_json::json!({})).unwrap());
        for (end, expected) in [
            (CallEnd::Answered(&nope), None),
            (CallEnd::ToolFile, None),
            (CallEnd::ToolError(&nope), Some("nope")),
            (CallEnd::ToolError(&empty), Some("the tool reported an error")),
            (CallEnd::Failed("denied"), Some("denied")),
            (CallEnd::Cancelled, Some("the run ended before the answer")),
        ] {
            let made = made(end).await;
            assert_eq!(made.listed[0].name, "stub/add");
            assert_eq!(made.listed[0].error.as_deref(), expected);
            assert_eq!(
                (made.latencies.len(), made.failed),
                (1, usize::from(expected.is_some()))
            );
        }
    }

    #[tokio::test]
    async fn a_list_is_bounded_and_the_count_is_not() {
        let list = CallList::default();
        for _ in 0..MAX_LISTED + 5 {
            let call = list.begin(&Value::Null).await;
            call.end(
                &ToolRef::new("", "é".repeat(400)),
                CallEnd::Failed(&"e".repeat(9_000)),
            )
            .await;
        }
        let calls = list.take();
        assert_eq!(
            (calls.listed.len(), calls.latencies.len()),
            (MAX_LISTED, MAX_LISTED + 5)
        );
        assert_eq!(calls.listed[0].name.chars().count(), MAX_NAME);
        assert_eq!(calls.listed[0].error.as_ref().map(String::len), Some(MAX_ERROR));
    }
}
