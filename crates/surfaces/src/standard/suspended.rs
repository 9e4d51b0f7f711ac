//! Stores a call whose server requested input until the modern client repeats its request with the answers.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::input_router::InputRequest;
use super::upstream_call::UpstreamCall;
use crate::error::RequestError;
use crate::parked::ParkedCalls;

/// Prefix of our handles; no server's `requestState` should start with it.
const PREFIX: &str = "codeyard-call-";
const STATE: &str = "requestState";
const RESPONSES: &str = "inputResponses";

/// A call that may be suspended for input.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) upstream: UpstreamCall,
    /// Method and parameters of the client's first request.
    method: String,
    params: Map<String, Value>,
    /// Unanswered requests for input, by the names that the client sees.
    open: HashMap<String, InputRequest>,
    /// Requests for input so far.
    count: usize,
}

/// Whether the client answered every question of a call.
#[derive(Debug)]
pub(super) enum Resumed {
    /// All questions are answered; the call continues.
    Complete(Call),
    /// Some questions are open; the call must be suspended again.
    Incomplete(Call),
}

/// One client's suspended calls.
#[derive(Debug)]
pub(super) struct SuspendedCalls(ParkedCalls<Call>);

// === impl Call ===

impl Call {
    pub(super) fn new(upstream: UpstreamCall, method: String, params: Map<String, Value>) -> Call {
        Call {
            upstream,
            method,
            params,
            open: HashMap::new(),
            count: 0,
        }
    }

    /// Returns the number of requests for input in this call.
    pub(super) fn add(&mut self, request: InputRequest) -> usize {
        self.count += 1;
        self.open.insert(format!("question-{}", self.count), request);
        self.count
    }

    /// Passes the client's answers to the server.
    fn answer(mut self, mut responses: Map<String, Value>) -> Resumed {
        let open = std::mem::take(&mut self.open);
        for (name, request) in open {
            match responses.remove(&name) {
                // If the server no longer waits, it needs no answer.
                Some(answer) if answer.is_object() => drop(request.reply.send(answer)),
                _ => drop(self.open.insert(name, request)),
            }
        }
        match self.open.is_empty() {
            true => Resumed::Complete(self),
            false => Resumed::Incomplete(self),
        }
    }

    /// A result that requests the unanswered input.
    fn input_required(&self, handle: &str) -> String {
        let requests = self.open.iter().map(|(name, open)| {
            let mut request = json!({"method": open.method});
            if let Some(params) = &open.params {
                request["params"] = params.clone();
            }
            (name.clone(), request)
        });
        let requests: Map<String, Value> = requests.collect();
        json!({"resultType": "input_required", "inputRequests": requests, (STATE): handle}).to_string()
    }
}

// === impl SuspendedCalls ===

impl Default for SuspendedCalls {
    fn default() -> Self {
        Self(ParkedCalls::new(PREFIX))
    }
}

impl SuspendedCalls {
    /// Suspends a call until the client returns. The result requests input from the client.
    pub(super) fn suspend(&self, call: Call) -> Result<String, RequestError> {
        let handle = self.0.handle()?;
        let result = call.input_required(&handle);
        call.upstream.suspend();
        self.0.park(handle, call);
        Ok(result)
    }

    /// Resumes the call whose handle is in the parameters; `None` if the parameters have no handle of ours.
    ///
    /// # Errors
    /// The handle was used before, has expired, was invented, or belongs to another request.
    pub(super) fn resume(
        &self,
        method: &str,
        params: &Map<String, Value>,
    ) -> Result<Option<Resumed>, RequestError> {
        let state = params.get(STATE).and_then(Value::as_str);
        let mut first_params = params.clone();
        first_params.remove(STATE);
        let responses = first_params.remove(RESPONSES);
        let is_same = |call: &Call| call.method == method && call.params == first_params;
        let Some(call) = self.0.take(state, is_same)? else {
            return Ok(None);
        };
        let responses = match responses {
            Some(Value::Object(responses)) => responses,
            _ => Map::new(),
        };
        call.upstream.resume();
        Ok(Some(call.answer(responses)))
    }
}
