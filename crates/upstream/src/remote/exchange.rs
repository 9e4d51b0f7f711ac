//! One message and what comes back for it.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{Response, StatusCode};
use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::answer::{self, Form, answers, refusal};
use super::endpoint::{Endpoint, begun};
use super::events::{Events, Position};
use super::listen;
use super::outgoing::Outgoing;
use super::trouble::Trouble;
use crate::config::HttpKind;
use crate::transport::Line;

/// How long the stream of an answer may stay open after it: a connection that was read to its end is used again.
const REST: Duration = Duration::from_millis(250);
/// Attempts to take up a stream that brought nothing new.
const MAX_RESUMPTIONS: u32 = 5;
/// How long a notification may take to be accepted.
const ACCEPTED: Duration = Duration::from_secs(30);
/// The request whose answer is a stream without end.
const SUBSCRIPTION: &str = "subscriptions/listen";

/// Sends a request and hands over all that comes back, its failure too.
pub(super) async fn request(endpoint: &Arc<Endpoint>, message: &Outgoing, id: i64) {
    let mut pause = listen::FIRST_PAUSE;
    let mut past = Past::default();
    while let Err(trouble) = converse(endpoint, message, id, &mut past).await {
        let may_come = matches!(trouble, Trouble::Transient(_) | Trouble::Later(..));
        let is_lost = may_come && message.method == SUBSCRIPTION;
        if !is_lost {
            return endpoint.fail(id, trouble).await;
        }
        // The first event only says that the subscription has begun.
        if past.events > 1 {
            pause = listen::FIRST_PAUSE;
        }
        past = Past {
            was_lost: true,
            events: 0,
        };
        sleep(pause).await;
        pause = (pause * 2).min(listen::LAST_PAUSE);
    }
}

/// What has become of a request so far that is sent again when its stream is lost.
#[derive(Debug, Default)]
struct Past {
    was_lost: bool,
    /// What its last stream has brought.
    events: usize,
}

/// Sends what has no answer.
pub(super) async fn notify(endpoint: &Arc<Endpoint>, message: &Outgoing) {
    let sent = async {
        let response = endpoint.post(message).await?;
        if response.status().is_success() {
            accepted(endpoint, response).await
        } else {
            Err(refusal(endpoint, response).await)
        }
    };
    let cause = match timeout(ACCEPTED, sent).await {
        Ok(Ok(())) => return,
        Ok(Err(Trouble::Forgotten)) => return endpoint.finish(Trouble::Forgotten.cause()),
        Ok(Err(trouble)) => trouble.cause(),
        Err(_elapsed) => "no answer in time".to_owned(),
    };
    let what = if message.method.is_empty() {
        "an answer"
    } else {
        &message.method
    };
    endpoint.traffic.warn(format!("{what} did not reach it: {cause}"));
}

async fn converse(
    endpoint: &Arc<Endpoint>,
    message: &Outgoing,
    id: i64,
    past: &mut Past,
) -> Result<(), Trouble> {
    let sent = endpoint.post(message);
    let response = if message.method == SUBSCRIPTION {
        begun(sent).await?
    } else {
        sent.await?
    };
    if !response.status().is_success() {
        let trouble = refusal(endpoint, response).await;
        let may_be_older = message.method == "initialize" && endpoint.kind == HttpKind::Any;
        if !may_be_older || endpoint.is_two_way() || !matches!(trouble, Trouble::NotHere(_)) {
            return Err(trouble);
        }
        // The way of 2024-11-05, as its successor says that it is found.
        listen::open(endpoint).await.map_err(|_other| trouble)?;
        let response = endpoint.post(message).await?;
        return accepted(endpoint, response).await;
    }
    if endpoint.is_two_way() {
        return accepted(endpoint, response).await;
    }
    if message.method == "initialize" {
        endpoint.note_session(&response);
    }
    match answer::form(&response) {
        Form::Json => whole(endpoint, message, id, response).await,
        Form::Events => {
            if past.was_lost {
                // What has changed meanwhile was told to nobody.
                endpoint.traffic.list_changed.notify_one();
            }
            stream(endpoint, message, id, response, past).await
        }
        Form::Other if response.status() == StatusCode::ACCEPTED => {
            let cause = "it took the request and gave no answer (HTTP 202)".to_owned();
            Err(Trouble::Nonsense(cause))
        }
        Form::Other => {
            let cause = "it answered with something else than JSON or a stream of events; is `url` complete?";
            Err(Trouble::Nonsense(cause.to_owned()))
        }
    }
}

/// The answer itself comes over the stream for all.
async fn accepted(endpoint: &Arc<Endpoint>, mut response: Response) -> Result<(), Trouble> {
    if response.status().is_success() {
        // A connection that was read to its end is used again.
        let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
        let _ = timeout(REST, rest).await;
        return Ok(());
    }
    Err(refusal(endpoint, response).await)
}

/// An answer in one piece.
async fn whole(
    endpoint: &Arc<Endpoint>,
    message: &Outgoing,
    id: i64,
    response: Response,
) -> Result<(), Trouble> {
    let body = answer::body(response).await?;
    let is_answer = answers(&body, id);
    hand_over(endpoint, message, body, is_answer).await;
    if is_answer {
        return Ok(());
    }
    Err(Trouble::Nonsense(
        "its answer was none to this request".to_owned(),
    ))
}

/// An answer at the end of a stream of other messages.
async fn stream(
    endpoint: &Arc<Endpoint>,
    message: &Outgoing,
    id: i64,
    response: Response,
    past: &mut Past,
) -> Result<(), Trouble> {
    let mut position = Position::default();
    let mut events = Events::new(response);
    let mut attempts = 0;
    loop {
        let end = follow(endpoint, message, id, &mut events, past).await;
        let Some(trouble) = end else {
            let rest = async { while let Ok(Some(_)) = events.next().await {} };
            let _ = timeout(REST, rest).await;
            return Ok(());
        };
        if position.advance(&events) {
            attempts = 0;
        }
        let last_id = position.last_id.as_deref();
        let is_resumable = !message.is_modern() && matches!(trouble, Trouble::Transient(_));
        if !is_resumable || last_id.is_none() || attempts >= MAX_RESUMPTIONS {
            return Err(trouble);
        }
        attempts += 1;
        sleep(position.pause(listen::FIRST_PAUSE)).await;
        let response = endpoint.get(last_id).await?;
        if !response.status().is_success() || answer::form(&response) != Form::Events {
            return Err(trouble);
        }
        events = Events::new(response);
    }
}

/// Hands over the events up to the answer; gives why it did not come.
async fn follow(
    endpoint: &Arc<Endpoint>,
    message: &Outgoing,
    id: i64,
    events: &mut Events,
    past: &mut Past,
) -> Option<Trouble> {
    loop {
        let event = match events.next().await {
            Ok(Some(event)) => event,
            Ok(None) => {
                return Some(Trouble::Transient(
                    "its stream ended before the answer".to_owned(),
                ));
            }
            Err(trouble) => return Some(trouble),
        };
        let data = match event.data {
            Line::Whole(data) => data,
            Line::TooLong { length, .. } => return Some(Trouble::TooLong(length)),
        };
        past.events += 1;
        let is_answer = answers(&data, id);
        hand_over(endpoint, message, data, is_answer).await;
        if is_answer {
            return None;
        }
    }
}

async fn hand_over(endpoint: &Arc<Endpoint>, message: &Outgoing, answer: Vec<u8>, is_answer: bool) {
    if is_answer && message.method == "initialize" {
        let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
        if let Some(version) = answer["result"]["protocolVersion"].as_str() {
            endpoint.set_version(version);
        }
    }
    endpoint.deliver(answer).await;
}
