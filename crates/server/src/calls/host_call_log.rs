//! Logs the host calls of programs with their answers, for recordings and for the demonstration.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use replay::{HostAnswer, MAX_PART, RecordedAnswer, RecordedHostCall};
use sandbox::{BoxFuture, CallContext, HostCall, HostCalls, Stream};
use serde_json::Value;
use serde_json::value::RawValue;
use types::RunInputs;

/// Host calls in the order in which they were made. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostCallLog(Arc<Mutex<LoggedCalls>>);

#[derive(Debug, Clone, Default)]
struct LoggedCalls {
    calls: Vec<RecordedHostCall>,
    /// Bytes of calls and answers.
    bytes: usize,
    /// Whether calls beyond [`MAX_PART`] are missing.
    is_cut: bool,
    /// Clock and randomness of the run.
    inputs: Option<RunInputs>,
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
        self.lock().clone().into_calls()
    }

    /// Returns and removes the calls logged so far.
    pub(crate) fn take(&self) -> Vec<RecordedHostCall> {
        std::mem::take(&mut *self.lock()).into_calls()
    }

    /// Clock and randomness of the logged run.
    pub(crate) fn inputs(&self) -> Option<RunInputs> {
        self.lock().inputs.clone()
    }

    fn lock(&self) -> MutexGuard<'_, LoggedCalls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Logs a call that was made; returns its place, if there is room.
    fn made(&self, call: &HostCall) -> Option<usize> {
        let bytes = size_of::<RecordedHostCall>() + call.name.len() + weight(&call.args);
        let mut log = self.lock();
        if log.bytes.saturating_add(bytes) > MAX_PART {
            log.is_cut = true;
            return None;
        }
        log.bytes += bytes;
        log.calls.push(RecordedHostCall {
            name: call.name.clone(),
            args: call.args.clone(),
            answer: RecordedAnswer::None,
        });
        Some(log.calls.len() - 1)
    }

    fn answered(&self, place: usize, answer: &HostAnswer) {
        let mut log = self.lock();
        let bytes = log.bytes.saturating_add(RecordedAnswer::bytes_of(answer));
        let has_room = bytes <= MAX_PART;
        if let Some(call) = log.calls.get_mut(place) {
            call.answer = match has_room {
                true => RecordedAnswer::of(answer),
                false => RecordedAnswer::Dropped,
            };
        }
        if has_room {
            log.bytes = bytes;
        }
    }
}

// === impl LoggedCalls ===

impl LoggedCalls {
    /// The calls; a nameless one stands for those that are missing.
    fn into_calls(mut self) -> Vec<RecordedHostCall> {
        if self.is_cut {
            self.calls.push(RecordedHostCall {
                name: String::new(),
                args: Value::Null,
                answer: RecordedAnswer::Dropped,
            });
        }
        self.calls
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

/// Clock and randomness of a run that begins now; `None` if the system gives no random bytes.
fn fresh_inputs() -> Option<RunInputs> {
    let mut seed = [0; 8];
    getrandom::fill(&mut seed).ok()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Some(RunInputs {
        seed: u64::from_le_bytes(seed),
        clock: u64::try_from(now.as_millis()).unwrap_or(0),
        reads: None,
    })
}

impl HostCalls for LoggingCalls {
    fn names(&self) -> Option<Vec<String>> {
        self.calls.names()
    }

    fn inputs(&self) -> Option<RunInputs> {
        let inputs = self.calls.inputs().or_else(fresh_inputs);
        self.log.lock().inputs = inputs.clone().map(|inputs| RunInputs {
            reads: None,
            ..inputs
        });
        inputs
    }

    fn inputs_read(&self, reads: &RawValue) {
        if let Some(inputs) = &mut self.log.lock().inputs {
            inputs.reads = Some(reads.to_owned());
        }
    }

    fn printed(&self, stream: Stream, bytes: &[u8]) {
        self.calls.printed(stream, bytes);
    }

    fn call(&self, call: HostCall, context: CallContext) -> BoxFuture<'_, HostAnswer> {
        let place = self.log.made(&call);
        Box::pin(async move {
            let answer = self.calls.call(call, context).await;
            if let Some(place) = place {
                self.log.answered(place, &answer);
            }
            answer
        })
    }
}
