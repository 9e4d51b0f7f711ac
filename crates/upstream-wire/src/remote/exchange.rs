//! Sends one message and passes on everything that the server returns for it.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{Response, StatusCode};
use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::endpoint::{Endpoint, with_head_timeout};
use super::error::RemoteError;
use super::event_stream::{EventStream, FIRST_PAUSE, LAST_PAUSE, StreamPosition};
use super::listen;
use super::message::OutgoingMessage;
use super::response::{self, ContentType, error_of, is_answer_to};
use crate::definition::HttpKind;
use crate::transport::Line;

/// Longest wait for the end of a body after the answer. HTTP reuses a connection only once the body is read.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(250);
/// Attempts without a new event in between.
const MAX_RESUMPTIONS: u32 = 5;
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(30);
/// The request whose answer is an endless stream.
const SUBSCRIPTION: &str = "subscriptions/listen";

/// Passes on all messages for the request, or its failure. A lost subscription is renewed.
pub(super) async fn request(endpoint: &Arc<Endpoint>, message: &OutgoingMessage, id: i64) {
    let mut pause = FIRST_PAUSE;
    let mut history = StreamHistory::default();
    while let Err(error) = converse(endpoint, message, id, &mut history).await {
        let is_transient = matches!(error, RemoteError::Transient(_) | RemoteError::RetryAfter(..));
        let is_lost = is_transient && message.method == SUBSCRIPTION;
        if !is_lost {
            return endpoint.fail(id, error).await;
        }
        // The first event only confirms the subscription.
        if history.events > 1 {
            pause = FIRST_PAUSE;
        }
        history = StreamHistory {
            was_lost: true,
            events: 0,
        };
        sleep(pause).await;
        pause = (pause * 2).min(LAST_PAUSE);
    }
}

/// The streams of one request so far. When its stream is lost, a subscription is sent again.
#[derive(Debug, Default)]
struct StreamHistory {
    was_lost: bool,
    /// Events of the last stream.
    events: usize,
}

pub(super) async fn notify(endpoint: &Arc<Endpoint>, message: &OutgoingMessage) {
    let sent = async {
        let response = endpoint.post(message).await?;
        accepted(endpoint, response).await
    };
    let cause = match timeout(NOTIFY_TIMEOUT, sent).await {
        Ok(Ok(())) => return,
        Ok(Err(RemoteError::SessionExpired)) => return endpoint.finish(RemoteError::SessionExpired.cause()),
        Ok(Err(error)) => error.cause(),
        Err(_elapsed) => "no answer in time".to_owned(),
    };
    let what = if message.method.is_empty() {
        "an answer"
    } else {
        &message.method
    };
    endpoint
        .notifications
        .warn(format!("{what} did not reach it: {cause}"));
}

async fn converse(
    endpoint: &Arc<Endpoint>,
    message: &OutgoingMessage,
    id: i64,
    history: &mut StreamHistory,
) -> Result<(), RemoteError> {
    let sent = endpoint.post(message);
    let response = if message.method == SUBSCRIPTION {
        with_head_timeout(sent).await?
    } else {
        sent.await?
    };
    if !response.status().is_success() {
        let error = error_of(endpoint, response).await;
        let may_be_older = message.method == "initialize" && endpoint.kind == HttpKind::Any;
        if !may_be_older || endpoint.uses_sse() || !matches!(error, RemoteError::WrongTransport(_)) {
            return Err(error);
        }
        // Fall back to HTTP with SSE, as the protocol describes it.
        listen::open(endpoint).await.map_err(|_other| error)?;
        let response = endpoint.post(message).await?;
        return accepted(endpoint, response).await;
    }
    if endpoint.uses_sse() {
        return accepted(endpoint, response).await;
    }
    if message.method == "initialize" {
        endpoint.set_session(&response);
    }
    match response::content_type(&response) {
        ContentType::Json => whole(endpoint, message, id, response).await,
        ContentType::EventStream => {
            if history.was_lost {
                // Changes in the meantime were not announced to anyone.
                endpoint.notifications.list_changed.notify_one();
            }
            stream(endpoint, message, id, response, history).await
        }
        ContentType::Other if response.status() == StatusCode::ACCEPTED => {
            let cause = "it took the request and gave no answer (HTTP 202)".to_owned();
            Err(RemoteError::InvalidResponse(cause))
        }
        ContentType::Other => {
            let cause = "it answered with neither JSON nor an event stream; is `url` complete?";
            Err(RemoteError::InvalidResponse(cause.to_owned()))
        }
    }
}

/// Checks that the server accepted a message; its answer comes over another stream.
async fn accepted(endpoint: &Arc<Endpoint>, mut response: Response) -> Result<(), RemoteError> {
    if response.status().is_success() {
        let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
        let _ = timeout(DRAIN_TIMEOUT, rest).await;
        return Ok(());
    }
    Err(error_of(endpoint, response).await)
}

/// Passes on an answer that is one JSON body.
async fn whole(
    endpoint: &Arc<Endpoint>,
    message: &OutgoingMessage,
    id: i64,
    response: Response,
) -> Result<(), RemoteError> {
    let body = response::body(response).await?;
    if is_answer_to(&body, id) {
        pass_on_answer(endpoint, message, body).await;
        return Ok(());
    }
    endpoint.deliver(body).await;
    Err(RemoteError::InvalidResponse(
        "its answer does not belong to this request".to_owned(),
    ))
}

/// Passes on a stream of messages that ends with the answer.
async fn stream(
    endpoint: &Arc<Endpoint>,
    message: &OutgoingMessage,
    id: i64,
    response: Response,
    history: &mut StreamHistory,
) -> Result<(), RemoteError> {
    let mut position = StreamPosition::default();
    let mut events = EventStream::new(response);
    let mut attempts = 0;
    loop {
        let end = follow(endpoint, message, id, &mut events, history).await;
        let Some(error) = end else {
            let rest = async { while let Ok(Some(_)) = events.next().await {} };
            let _ = timeout(DRAIN_TIMEOUT, rest).await;
            return Ok(());
        };
        if position.advance(&events) {
            attempts = 0;
        }
        let last_id = position.last_id.as_deref();
        let is_resumable = !message.is_modern() && matches!(error, RemoteError::Transient(_));
        if !is_resumable || last_id.is_none() || attempts >= MAX_RESUMPTIONS {
            return Err(error);
        }
        attempts += 1;
        sleep(position.pause(FIRST_PAUSE)).await;
        let response = endpoint.get(last_id).await?;
        if !response.status().is_success() || response::content_type(&response) != ContentType::EventStream {
            return Err(error);
        }
        events = EventStream::new(response);
    }
}

/// Passes on events up to the answer; returns the error if none comes.
async fn follow(
    endpoint: &Arc<Endpoint>,
    message: &OutgoingMessage,
    id: i64,
    events: &mut EventStream,
    history: &mut StreamHistory,
) -> Option<RemoteError> {
    loop {
        let event = match events.next().await {
            Ok(Some(event)) => event,
            Ok(None) => {
                return Some(RemoteError::Transient(
                    "its stream ended before the answer".to_owned(),
                ));
            }
            Err(error) => return Some(error),
        };
        let data = match event.data {
            Line::Whole(data) => data,
            Line::TooLong { length, .. } => return Some(RemoteError::TooLarge(length)),
        };
        history.events += 1;
        if is_answer_to(&data, id) {
            pass_on_answer(endpoint, message, data).await;
            return None;
        }
        endpoint.deliver(data).await;
    }
}

/// The answer to `initialize` names the protocol's version.
async fn pass_on_answer(endpoint: &Arc<Endpoint>, message: &OutgoingMessage, answer: Vec<u8>) {
    if message.method == "initialize" {
        let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
        if let Some(version) = answer["result"]["protocolVersion"].as_str() {
            endpoint.set_version(version);
        }
    }
    endpoint.deliver(answer).await;
}
