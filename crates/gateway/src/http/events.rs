//! Responses that are streams of server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use futures_util::stream::{self, Stream};
use http::HeaderValue;
use http::header::CACHE_CONTROL;

use super::conversation::{Delivery, Exchange};
use super::event_log::EventReader;

/// Between two signs of life on a stream that has nothing to say.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// How long a client waits before it resumes a stream.
const RETRY: Duration = Duration::from_secs(1);

/// How a stream begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// With an event that has an id and no data.
    Id,
    /// With the first message.
    Message,
}

/// All that comes for a request, to its answer. A client that loses this stream cannot resume it.
pub(super) fn deliveries(first: Option<Vec<u8>>, exchange: Exchange) -> Response {
    response(stream::unfold(
        (first, exchange),
        async |(first, mut exchange)| {
            let message = match first {
                Some(message) => message,
                None => match exchange.next().await? {
                    Delivery::Message(message) | Delivery::Answer(message) => message,
                },
            };
            Some((Ok(event(&message)), (None, exchange)))
        },
    ))
}

/// A stream that can be resumed.
pub(super) fn resumable(opening: Opening, reader: EventReader) -> Response {
    let begin = match opening {
        Opening::Id => Some(
            Event::default()
                .id(reader.from().to_string())
                .retry(RETRY)
                .data(""),
        ),
        Opening::Message => None,
    };
    let rest = stream::unfold(reader, async |mut reader| {
        let (id, message) = reader.next().await?;
        Some((Ok(event(&message).id(id.to_string())), reader))
    });
    response(stream::iter(begin.map(Ok)).chain(rest))
}

fn event(message: &[u8]) -> Event {
    // What a surface writes is JSON, and so UTF-8 without line ends.
    Event::default()
        .event("message")
        .data(String::from_utf8_lossy(message).trim_end())
}

fn response(messages: impl Stream<Item = Result<Event, Infallible>> + Send + 'static) -> Response {
    let mut response = Sse::new(messages)
        .keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
        .into_response();
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    // Some proxies collect what is sent in small pieces unless this header forbids it.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
