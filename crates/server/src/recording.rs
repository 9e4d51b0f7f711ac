//! Logs a run's tool calls, to count or show them.

use std::sync::{Arc, Mutex, PoisonError};

use sandbox::{BoxFuture, CallContext, HostCall, HostCalls, Stream};
use serde_json::Value;
use serde_json::value::RawValue;
use types::HostCallError;

/// A tool call with its answer.
#[derive(Debug, Clone)]
pub struct RecordedCall {
    /// As the program wrote it.
    pub server: String,
    /// As the program wrote it.
    pub tool: String,
    /// As passed by the program.
    pub arguments: Value,
    /// The server's answer as text, or the failure.
    pub answer: Result<String, HostCallError>,
}

/// Tool calls of a host's programs, in the order of the answers.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallLog(Arc<Mutex<Vec<RecordedCall>>>);

struct Recorder {
    calls: Arc<dyn HostCalls>,
    log: CallLog,
}

impl CallLog {
    pub(crate) fn record(&self, calls: Arc<dyn HostCalls>) -> Arc<dyn HostCalls> {
        Arc::new(Recorder {
            calls,
            log: self.clone(),
        })
    }

    /// Returns and removes the calls logged so far.
    pub(crate) fn take(&self) -> Vec<RecordedCall> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn keep(&self, args: &Value, answer: &Result<Box<RawValue>, HostCallError>) {
        let text = |name: &str| args[name].as_str().unwrap_or_default().to_owned();
        let call = RecordedCall {
            server: text("server"),
            tool: text("tool"),
            arguments: args["args"].clone(),
            answer: answer
                .as_ref()
                .map(|raw| raw.get().to_owned())
                .map_err(Clone::clone),
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    }
}

impl HostCalls for Recorder {
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
        Box::pin(async move {
            let args = (call.name == "tool").then(|| call.args.clone());
            let answer = self.calls.call(call, context).await;
            if let Some(args) = args {
                self.log.keep(&args, &answer);
            }
            answer
        })
    }
}
