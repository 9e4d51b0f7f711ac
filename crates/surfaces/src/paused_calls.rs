//! Calls of modern clients that wait for a person.
//!
//! A modern client accepts no requests. The response to its call asks the question (`input_required`), and the client
//! repeats the call with the answer. The work of the call goes on meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use broker::{LinkQuestion, PersonAnswer};
use futures_util::future::BoxFuture;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, InputRequiredResult, InputResponses, JsonObject,
};
use rmcp::service::RequestContext;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::error::RequestError;
use crate::parked::ParkedCalls;
use crate::{person, request};

const PREFIX: &str = "codeyard-run-";
/// Most paused calls of one client.
const CAPACITY: usize = 16;
/// The name of the only question of a response.
const QUESTION: &str = "login";

/// The sender for a call's questions, stored in the extensions of the call's request.
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

/// A call whose work goes on. Dropping the call cancels the work.
struct OpenCall {
    name: String,
    arguments: JsonObject,
    work: Work,
    questions: mpsc::Receiver<OpenQuestion>,
    has_paused: Arc<AtomicBool>,
    cancel: CancellationToken,
    _cancel: DropGuard,
}

struct PausedCall {
    call: OpenCall,
    open: OpenQuestion,
}

/// The paused calls of one client.
pub(crate) struct PausedCalls(ParkedCalls<PausedCall>);

// === impl Questions ===

impl Questions {
    /// Asks the question in the response to the client's request.
    pub(crate) async fn ask(&self, question: &LinkQuestion) -> PersonAnswer {
        let (reply, answer) = oneshot::channel();
        let question = question.clone();
        match self.queue.send(OpenQuestion { question, reply }).await {
            Ok(()) => answer.await.unwrap_or(PersonAnswer::Declined),
            Err(_) => PersonAnswer::Declined,
        }
    }

    /// Whether the first request of the call was answered. Progress of an answered request must not be sent.
    pub(crate) fn has_paused(&self) -> bool {
        self.has_paused.load(Ordering::Relaxed)
    }
}

// === impl PausedCalls ===

impl Default for PausedCalls {
    fn default() -> Self {
        Self(ParkedCalls::new(PREFIX))
    }
}

impl PausedCalls {
    /// Answers a call with `begin`, and continues a paused call whose client has returned.
    ///
    /// # Errors
    /// `begin` failed, or the request's state does not name a paused call with the same arguments.
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
        let is_same =
            |paused: &PausedCall| paused.call.name == request.name && paused.call.arguments == arguments;
        if let Some(paused) = self.0.take(request.request_state.as_deref(), is_same)? {
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
            _cancel: cancel.clone().drop_guard(),
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
                    if self.0.count() < CAPACITY {
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
        let handle = self.0.handle()?;
        let result: InputRequiredResult = serde_json::from_value(json!({
            "resultType": "input_required",
            "inputRequests": {(QUESTION): {"method": person::METHOD, "params": person::params(&open.question)}},
            "requestState": handle,
        }))
        .map_err(|_| RequestError::Panicked)?;
        call.has_paused.store(true, Ordering::Relaxed);
        let work = tokio::spawn(call.work);
        call.work = Box::pin(async move { work.await.unwrap_or(Err(RequestError::Panicked)) });
        self.0.park(handle, PausedCall { call, open });
        Ok(result.into())
    }

    async fn resume(
        &self,
        paused: PausedCall,
        responses: Option<InputResponses>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, RequestError> {
        let PausedCall { call, open } = paused;
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
}
