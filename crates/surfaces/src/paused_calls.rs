//! Calls of modern clients that wait for a person.
//!
//! A modern client accepts no requests. The response to its call asks the question (`input_required`), and the client
//! repeats the call with the answer. The work of the call goes on meanwhile.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use broker::{LinkQuestion, PersonAnswer};
use futures_util::future::BoxFuture;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, InputRequiredResult, InputResponses, JsonObject,
};
use rmcp::service::RequestContext;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::error::RequestError;
use crate::{person, request};

/// Prefix of the handles, so that no other state is taken for one.
const PREFIX: &str = "codeyard-run-";
/// How long a call stays paused. A client that has not returned by then has abandoned the call.
const TIMEOUT: Duration = Duration::from_secs(5 * 60);
/// Most paused calls of one client.
const CAPACITY: usize = 16;
/// The name of the only question of a response.
const QUESTION: &str = "login";

/// Takes the questions of a call, among the extensions of its request.
#[derive(Debug, Clone)]
pub(crate) struct Questions {
    queue: mpsc::Sender<OpenQuestion>,
    /// Whether the call's first request has been answered.
    has_paused: Arc<AtomicBool>,
}

/// A question, and where its answer goes.
#[derive(Debug)]
struct OpenQuestion {
    question: LinkQuestion,
    reply: oneshot::Sender<PersonAnswer>,
}

type Work = BoxFuture<'static, Result<CallToolResult, RequestError>>;

/// A call whose work goes on.
struct OpenCall {
    name: String,
    arguments: JsonObject,
    work: Work,
    questions: mpsc::Receiver<OpenQuestion>,
    has_paused: Arc<AtomicBool>,
    cancel: CancellationToken,
}

struct PausedCall {
    call: OpenCall,
    open: OpenQuestion,
    /// Removes the call after [`TIMEOUT`].
    _timer: AbortOnDropHandle<()>,
}

type Paused = Mutex<HashMap<String, PausedCall>>;

/// The paused calls of one client, by unguessable handles that are valid once.
#[derive(Default)]
pub(crate) struct PausedCalls(Arc<Paused>);

// === impl Questions ===

impl Questions {
    /// Asks with the response to the client's request.
    pub(crate) async fn ask(&self, question: &LinkQuestion) -> PersonAnswer {
        let (reply, answer) = oneshot::channel();
        let question = question.clone();
        match self.queue.send(OpenQuestion { question, reply }).await {
            Ok(()) => answer.await.unwrap_or(PersonAnswer::Declined),
            Err(_) => PersonAnswer::Declined,
        }
    }

    /// Whether the call's first request has been answered, so that nothing more may be sent for it.
    pub(crate) fn has_paused(&self) -> bool {
        self.has_paused.load(Ordering::Relaxed)
    }
}

// === impl PausedCalls ===

impl PausedCalls {
    /// Answers a call with `begin`, and continues a paused call whose client has returned.
    ///
    /// # Errors
    /// Those of `begin`; or the state in the request is no handle of a paused call with the same arguments.
    pub(crate) async fn answer<F>(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        begin: impl FnOnce(JsonObject, RequestContext<RoleServer>) -> F,
    ) -> Result<CallToolResponse, RequestError>
    where
        F: Future<Output = Result<CallToolResult, RequestError>> + Send + 'static,
    {
        let arguments = request.arguments.unwrap_or_default();
        if let Some(handle) = request.request_state.filter(|state| state.starts_with(PREFIX)) {
            let paused = self.take(&handle, &request.name, &arguments)?;
            return self.resume(paused, request.input_responses, context).await;
        }
        if !person::can_return(context) {
            return begin(arguments, context.clone()).await.map(Into::into);
        }
        let (queue, questions) = mpsc::channel(1);
        let (cancel, has_paused) = (CancellationToken::new(), Arc::<AtomicBool>::default());
        let mut own = context.clone();
        own.ct = cancel.clone();
        own.extensions.insert(Questions {
            queue,
            has_paused: Arc::clone(&has_paused),
        });
        let call = OpenCall {
            name: request.name.into_owned(),
            work: Box::pin(begin(arguments.clone(), own)),
            arguments,
            questions,
            has_paused,
            cancel,
        };
        self.wait(call, context).await
    }

    /// Waits for the end of a call or its next question.
    async fn wait(
        &self,
        mut call: OpenCall,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, RequestError> {
        loop {
            tokio::select! {
                biased;
                result = &mut call.work => return result.map(Into::into),
                Some(open) = call.questions.recv() => {
                    // The work may have gone on without the answer.
                    if open.reply.is_closed() {
                        continue;
                    }
                    if self.lock().len() < CAPACITY {
                        return self.pause(call, open);
                    }
                    // The client no longer waits if the work has ended.
                    let _ = open.reply.send(PersonAnswer::Declined);
                }
                () = context.ct.cancelled(), if !call.cancel.is_cancelled() => call.cancel.cancel(),
            }
        }
    }

    /// Pauses a call; the result asks the question.
    fn pause(&self, mut call: OpenCall, open: OpenQuestion) -> Result<CallToolResponse, RequestError> {
        let handle = request::unguessable(PREFIX)?;
        let result: InputRequiredResult = serde_json::from_value(json!({
            "resultType": "input_required",
            "inputRequests": {(QUESTION): {"method": person::METHOD, "params": person::params(&open.question)}},
            "requestState": handle,
        }))
        .map_err(|_| RequestError::Panicked)?;
        call.has_paused.store(true, Ordering::Relaxed);
        let work = tokio::spawn(call.work);
        call.work = Box::pin(async move { work.await.unwrap_or(Err(RequestError::Panicked)) });
        let timer = tokio::spawn(expire(Arc::downgrade(&self.0), handle.clone()));
        let _timer = AbortOnDropHandle::new(timer);
        self.lock().insert(handle, PausedCall { call, open, _timer });
        Ok(result.into())
    }

    fn take(&self, handle: &str, name: &str, arguments: &JsonObject) -> Result<PausedCall, RequestError> {
        let paused = self.lock().remove(handle).ok_or(RequestError::RequestState(
            "is unknown or has expired: it is valid once, for five minutes, in the process that gave it; call again \
             without it",
        ))?;
        if (paused.call.name.as_str(), &paused.call.arguments) != (name, arguments) {
            paused.call.cancel.cancel();
            return Err(RequestError::RequestState(
                "belongs to another call, which has been given up",
            ));
        }
        Ok(paused)
    }

    async fn resume(
        &self,
        paused: PausedCall,
        responses: Option<InputResponses>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, RequestError> {
        let PausedCall { call, open, _timer } = paused;
        request::release(context);
        match responses.unwrap_or_default().remove(QUESTION) {
            Some(answer) => {
                // The work may have ended meanwhile.
                let _ = open.reply.send(person::answer(&answer));
                self.wait(call, context).await
            }
            None => self.pause(call, open),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, PausedCall>> {
        lock(&self.0)
    }
}

fn lock(paused: &Paused) -> MutexGuard<'_, HashMap<String, PausedCall>> {
    paused.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Cancels a call whose client has not returned in time.
async fn expire(paused: Weak<Paused>, handle: String) {
    tokio::time::sleep(TIMEOUT).await;
    let removed = paused.upgrade().and_then(|paused| lock(&paused).remove(&handle));
    if let Some(paused) = removed {
        paused.call.cancel.cancel();
    }
}
