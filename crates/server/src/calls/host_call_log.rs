//! Logs the host calls of programs with their answers, for recordings and for the demonstration.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use replay::{MAX_PART, RecordedAnswer, RecordedHostCall};
use sandbox::{BoxFuture, CallContext, HostCall, HostCalls, Stream};
use serde_json::Value;
use serde_json::value::RawValue;
use types::HostCallError;

/// Host calls in the order in which they were made. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostCallLog(Arc<Mutex<LoggedCalls>>);

#[derive(Debug, Default)]
struct LoggedCalls {
    calls: Vec<RecordedHostCall>,
    /// Bytes of answers and arguments; beyond [`MAX_PART`] they are dropped.
    bytes: usize,
}

/// Passes host calls on and logs them.
struct LoggingCalls {
    calls: Arc<dyn HostCalls>,
    log: HostCallLog,
}

// === impl HostCallLog ===

impl HostCallLog {
    /// The same calls, logged.
    pub(crate) fn around(&self, calls: Arc<dyn HostCalls>) -> Arc<dyn HostCalls> {
        Arc::new(LoggingCalls {
            calls,
            log: self.clone(),
        })
    }

    /// The calls logged so far.
    pub(crate) fn calls(&self) -> Vec<RecordedHostCall> {
        self.lock().calls.clone()
    }

    /// Returns and removes the calls logged so far.
    pub(crate) fn take(&self) -> Vec<RecordedHostCall> {
        std::mem::take(&mut *self.lock()).calls
    }

    fn lock(&self) -> MutexGuard<'_, LoggedCalls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Logs a call that was made; returns its place.
    fn made(&self, call: &HostCall) -> usize {
        let bytes = size_of::<RecordedHostCall>() + call.name.len() + weight(&call.args);
        let mut log = self.lock();
        log.bytes = log.bytes.saturating_add(bytes);
        let is_full = log.bytes > MAX_PART;
        log.calls.push(match is_full {
            true => RecordedHostCall {
                name: String::new(),
                args: Value::Null,
                answer: RecordedAnswer::Dropped,
            },
            false => RecordedHostCall {
                name: call.name.clone(),
                args: call.args.clone(),
                answer: RecordedAnswer::None,
            },
        });
        log.calls.len() - 1
    }

    fn answered(&self, place: usize, answer: &Result<Box<RawValue>, HostCallError>) {
        let mut log = self.lock();
        log.bytes = log.bytes.saturating_add(RecordedAnswer::bytes_of(answer));
        let is_full = log.bytes > MAX_PART;
        if let Some(call) = log.calls.get_mut(place) {
            call.answer = match is_full {
                true => RecordedAnswer::Dropped,
                false => RecordedAnswer::of(answer),
            };
        }
    }
}

/// About the bytes of a value in memory.
fn weight(value: &Value) -> usize {
    let content = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| name.len() + weight(value))
            .sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    size_of::<Value>() + content
}

impl HostCalls for LoggingCalls {
    fn names(&self) -> Option<Vec<String>> {
        self.calls.names()
    }

    fn printed(&self, stream: Stream, bytes: &[u8]) {
        self.calls.printed(stream, bytes);
    }

    fn call(
        &self,
        call: HostCall,
        context: CallContext,
    ) -> BoxFuture<'_, Result<Box<RawValue>, HostCallError>> {
        let place = self.log.made(&call);
        Box::pin(async move {
            let answer = self.calls.call(call, context).await;
            self.log.answered(place, &answer);
            answer
        })
    }
}
