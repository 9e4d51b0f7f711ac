//! Streams that stay open: the one for unasked messages, and the single stream of HTTP with SSE.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{Response, StatusCode};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use super::endpoint::Endpoint;
use super::error::RemoteError;
use super::event_stream::{EventStream, FIRST_PAUSE, LAST_PAUSE, StreamPosition};
use super::response::{self, ContentType, error_of};
use crate::transport::Line;

/// The `endpoint` event names the address for messages.
const ENDPOINT_TIMEOUT: Duration = Duration::from_secs(30);

/// Receives what the server sends unasked, as long as it offers a stream. `opened` is dropped when the first
/// stream is open or refused.
pub(super) async fn run(endpoint: &Arc<Endpoint>, opened: oneshot::Sender<()>) {
    let mut opened = Some(opened);
    let mut position = StreamPosition::default();
    let mut pause = FIRST_PAUSE;
    let mut was_closed = false;
    loop {
        let response = endpoint.get(position.last_id.as_deref()).await;
        drop(opened.take());
        match response {
            Ok(response)
                if response.status().is_success()
                    && response::content_type(&response) == ContentType::EventStream =>
            {
                if std::mem::take(&mut was_closed) && position.last_id.is_none() {
                    // Changes in the meantime were not announced to anyone.
                    endpoint.notifications.list_changed.notify_one();
                }
                let mut events = EventStream::new(response);
                if pass_on(endpoint, &mut events).await > 0 {
                    pause = FIRST_PAUSE;
                }
                position.advance(&events);
            }
            Ok(response) if !response::is_transient(response.status()) => {
                return refused(endpoint, response).await;
            }
            Ok(_) | Err(RemoteError::Transient(_) | RemoteError::Unreachable(_)) => {}
            Err(error) => return warn_no_stream(endpoint, &error),
        }
        sleep(position.pause(pause)).await;
        pause = (pause * 2).min(LAST_PAUSE);
        was_closed = true;
    }
}

/// The server offers no stream, has ended the session, or refuses the credentials.
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
    match error_of(endpoint, response).await {
        RemoteError::SessionExpired => endpoint.finish(RemoteError::SessionExpired.cause()),
        _ if offers_none => {}
        error => warn_no_stream(endpoint, &error),
    }
}

fn warn_no_stream(endpoint: &Endpoint, error: &RemoteError) {
    let cause = error.cause();
    endpoint
        .notifications
        .warn(format!("its notifications are not received: {cause}"));
}

/// Opens the single stream of HTTP with SSE and waits for the address for messages.
pub(super) async fn open(endpoint: &Arc<Endpoint>) -> Result<(), RemoteError> {
    let response = endpoint.get(None).await?;
    if !response.status().is_success() {
        return Err(error_of(endpoint, response).await);
    }
    if response::content_type(&response) != ContentType::EventStream {
        return Err(RemoteError::Rejected(
            "it sends no event stream; is `url` complete?".to_owned(),
        ));
    }
    let mut events = EventStream::new(response);
    let address = async {
        while let Some(event) = events.next().await? {
            if let Line::Whole(data) = event.data
                && event.kind == "endpoint"
            {
                return endpoint.same_origin(&String::from_utf8_lossy(&data));
            }
        }
        Err(RemoteError::Transient(
            "its stream ended before it gave the address for messages".to_owned(),
        ))
    };
    let url = timeout(ENDPOINT_TIMEOUT, address)
        .await
        .unwrap_or_else(|_elapsed| {
            let cause = format!(
                "it gave no address for messages within {} s",
                ENDPOINT_TIMEOUT.as_secs()
            );
            Err(RemoteError::Transient(cause))
        })?;
    endpoint.set_messages(url);
    endpoint.spawn(|endpoint| async move {
        pass_on(&endpoint, &mut events).await;
        endpoint.finish("closed its stream of events".to_owned());
    });
    Ok(())
}

/// Returns the number of events passed on.
async fn pass_on(endpoint: &Arc<Endpoint>, events: &mut EventStream) -> usize {
    let mut count = 0;
    loop {
        match events.next().await {
            Ok(Some(event)) => {
                count += 1;
                match event.data {
                    Line::Whole(data) => endpoint.deliver(data).await,
                    Line::TooLong { length, id } => endpoint.report_too_large(length, id).await,
                }
            }
            // Messages continue after the one that is too large.
            Err(RemoteError::TooLarge(_)) => {}
            Ok(None) | Err(RemoteError::Transient(_)) => return count,
            Err(error) => {
                endpoint
                    .notifications
                    .warn(format!("its stream of events was closed: {}", error.cause()));
                return count;
            }
        }
    }
}
