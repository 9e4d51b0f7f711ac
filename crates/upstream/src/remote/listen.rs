//! Streams that a server keeps open: the one for what it says unasked, and the one for everything in the way of 2024-11-05.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{Response, StatusCode};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use super::answer::{self, Form, refusal};
use super::endpoint::Endpoint;
use super::events::{Events, Position};
use super::trouble::Trouble;
use crate::transport::Line;

/// The pause before a stream is opened again; each further one is twice as long, up to the last.
pub(super) const FIRST_PAUSE: Duration = Duration::from_secs(1);
pub(super) const LAST_PAUSE: Duration = Duration::from_secs(30);
/// How long a server may take to say where its messages go.
const WELCOME: Duration = Duration::from_secs(30);

/// Hears what a server says unasked, for as long as it offers to; `heard` is told when the first stream is open or refused.
pub(super) async fn run(endpoint: &Arc<Endpoint>, heard: oneshot::Sender<()>) {
    let mut heard = Some(heard);
    let mut position = Position::default();
    let mut pause = FIRST_PAUSE;
    let mut was_deaf = false;
    loop {
        let response = endpoint.get(position.last_id.as_deref()).await;
        drop(heard.take());
        match response {
            Ok(response) if response.status().is_success() && answer::form(&response) == Form::Events => {
                if std::mem::take(&mut was_deaf) && position.last_id.is_none() {
                    // What has changed meanwhile was told to nobody.
                    endpoint.traffic.list_changed.notify_one();
                }
                let mut events = Events::new(response);
                if drain(endpoint, &mut events).await > 0 {
                    pause = FIRST_PAUSE;
                }
                position.advance(&events);
            }
            Ok(response) if !answer::is_transient(response.status()) => {
                return refused(endpoint, response).await;
            }
            Ok(_) | Err(Trouble::Transient(_) | Trouble::Unreachable(_)) => {}
            Err(trouble) => return unheard(endpoint, &trouble),
        }
        sleep(position.pause(pause)).await;
        pause = (pause * 2).min(LAST_PAUSE);
        was_deaf = true;
    }
}

/// There is no stream to listen to: the server offers none, has forgotten the session, or lets us not in.
async fn refused(endpoint: &Endpoint, response: Response) {
    let status = response.status();
    let offers_none = status.is_success()
        || matches!(
            status,
            StatusCode::BAD_REQUEST
                | StatusCode::NOT_FOUND
                | StatusCode::METHOD_NOT_ALLOWED
                | StatusCode::NOT_IMPLEMENTED
        );
    match refusal(endpoint, response).await {
        Trouble::Forgotten => endpoint.finish(Trouble::Forgotten.cause()),
        _ if offers_none => {}
        trouble => unheard(endpoint, &trouble),
    }
}

fn unheard(endpoint: &Endpoint, trouble: &Trouble) {
    let cause = trouble.cause();
    endpoint
        .traffic
        .warn(format!("what it says unasked is not heard: {cause}"));
}

/// Opens the one stream of the way of 2024-11-05 and waits until the server says where messages go.
pub(super) async fn open(endpoint: &Arc<Endpoint>) -> Result<(), Trouble> {
    let response = endpoint.get(None).await?;
    if !response.status().is_success() {
        return Err(refusal(endpoint, response).await);
    }
    if answer::form(&response) != Form::Events {
        return Err(Trouble::Barred(
            "it gives no stream of events; is `url` complete?".to_owned(),
        ));
    }
    let mut events = Events::new(response);
    let welcome = async {
        while let Some(event) = events.next().await? {
            if let Line::Whole(data) = event.data
                && event.kind == "endpoint"
            {
                return endpoint.own_address(&String::from_utf8_lossy(&data));
            }
        }
        Err(Trouble::Transient(
            "its stream ended before it said where messages go".to_owned(),
        ))
    };
    let url = timeout(WELCOME, welcome).await.unwrap_or_else(|_elapsed| {
        let cause = format!("it did not say within {} s where messages go", WELCOME.as_secs());
        Err(Trouble::Transient(cause))
    })?;
    endpoint.set_messages(url);
    endpoint.beside(|endpoint| async move {
        drain(&endpoint, &mut events).await;
        endpoint.finish("closed its stream of events".to_owned());
    });
    Ok(())
}

/// Hands over all events; tells how many there were.
async fn drain(endpoint: &Arc<Endpoint>, events: &mut Events) -> usize {
    let mut count = 0;
    loop {
        match events.next().await {
            Ok(Some(event)) => {
                count += 1;
                match event.data {
                    Line::Whole(data) => endpoint.deliver(data).await,
                    Line::TooLong { length, id } => endpoint.left_out(length, id).await,
                }
            }
            // Other answers follow it.
            Err(Trouble::TooLong(_)) => {}
            Ok(None) | Err(Trouble::Transient(_)) => return count,
            Err(trouble) => {
                endpoint
                    .traffic
                    .warn(format!("its stream of events was closed: {}", trouble.cause()));
                return count;
            }
        }
    }
}
