//! Calls that wait for the client: their servers have asked, the client was told, and comes again with the answers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use rmcp::model::ErrorData;
use serde_json::{Map, Value, json};
use tokio_util::task::AbortOnDropHandle;

use super::desk::Posed;
use super::flight::Flight;

/// What a handle begins with, so that it is told from a server's own state.
const PREFIX: &str = "codeyard-call-";
/// How long a call waits; a client that does not come again has given up.
const PATIENCE: Duration = Duration::from_secs(300);
const STATE: &str = "requestState";
const RESPONSES: &str = "inputResponses";

/// A call that its server has stopped to ask something.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) flight: Flight,
    /// The method and the parameters that it was begun with.
    method: String,
    params: Map<String, Value>,
    /// Questions without an answer, by the names that the client sees.
    open: HashMap<String, Posed>,
    /// Questions so far.
    asked: usize,
}

/// The calls of one connection that wait, by handles that nobody can guess and that are good once.
#[derive(Debug, Default)]
pub(super) struct Parked {
    calls: Arc<Mutex<HashMap<String, Waiting>>>,
}

#[derive(Debug)]
struct Waiting {
    call: Call,
    /// Gives it up.
    _timer: AbortOnDropHandle<()>,
}

// === impl Call ===

impl Call {
    pub(super) fn new(flight: Flight, method: String, params: Map<String, Value>) -> Call {
        Call {
            flight,
            method,
            params,
            open: HashMap::new(),
            asked: 0,
        }
    }

    /// Takes up a question; gives how many there were.
    pub(super) fn take_up(&mut self, posed: Posed) -> usize {
        self.asked += 1;
        self.open.insert(format!("question-{}", self.asked), posed);
        self.asked
    }

    /// Hands on what the client has answered; tells whether that is all.
    fn answered(&mut self, responses: &mut Map<String, Value>) -> bool {
        let open = std::mem::take(&mut self.open);
        for (name, posed) in open {
            match responses.remove(&name) {
                // A server that waits no longer needs no answer.
                Some(answer) if answer.is_object() => drop(posed.reply.send(answer)),
                _ => drop(self.open.insert(name, posed)),
            }
        }
        self.open.is_empty()
    }

    /// The result that asks for the open answers, to be brought with this handle.
    fn asks(&self, handle: &str) -> String {
        let requests = self.open.iter().map(|(name, posed)| {
            let mut request = json!({"method": posed.method});
            if let Some(params) = &posed.params {
                request["params"] = params.clone();
            }
            (name.clone(), request)
        });
        let requests: Map<String, Value> = requests.collect();
        json!({"resultType": "input_required", "inputRequests": requests, (STATE): handle}).to_string()
    }
}

// === impl Parked ===

impl Parked {
    /// Keeps a call until the client comes again; gives the result that asks it to.
    pub(super) fn park(&self, call: Call) -> Result<String, ErrorData> {
        let mut secret = [0; 16];
        getrandom::fill(&mut secret).map_err(|error| {
            ErrorData::internal_error(format!("no handle could be made for the call: {error}"), None)
        })?;
        let secret: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        let handle = format!("{PREFIX}{secret}");
        let asks = call.asks(&handle);
        call.flight.set_parked(true);
        let timer = tokio::spawn(give_up(Arc::downgrade(&self.calls), handle.clone()));
        let _timer = AbortOnDropHandle::new(timer);
        self.lock().insert(handle, Waiting { call, _timer });
        Ok(asks)
    }

    /// The call that these parameters go on with, if they hold a handle, and whether all its questions are answered now.
    ///
    /// # Errors
    /// The handle is used up, too old, made up, or another call's.
    pub(super) fn resume(
        &self,
        method: &str,
        params: &Map<String, Value>,
    ) -> Result<Option<(Call, bool)>, ErrorData> {
        let state = params.get(STATE).and_then(Value::as_str);
        let Some(handle) = state.filter(|state| state.starts_with(PREFIX)) else {
            return Ok(None);
        };
        let waiting = self.lock().remove(handle).ok_or_else(|| {
            bad("is none that waits: it is good once and for five minutes; call again without it")
        })?;
        let mut call = waiting.call;
        let mut begun_with = params.clone();
        begun_with.remove(STATE);
        let responses = begun_with.remove(RESPONSES);
        if call.method != method || call.params != begun_with {
            return Err(bad("belongs to another call, which has been given up"));
        }
        let mut responses = match responses {
            Some(Value::Object(responses)) => responses,
            _ => Map::new(),
        };
        call.flight.set_parked(false);
        let is_complete = call.answered(&mut responses);
        Ok(Some((call, is_complete)))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the call if its client has not come again in time.
async fn give_up(calls: Weak<Mutex<HashMap<String, Waiting>>>, handle: String) {
    tokio::time::sleep(PATIENCE).await;
    if let Some(calls) = calls.upgrade() {
        let mut calls = calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.remove(&handle);
    }
}

fn bad(why: &str) -> ErrorData {
    ErrorData::invalid_params(format!("Invalid params: `{STATE}` {why}"), None)
}
