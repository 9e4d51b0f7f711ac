//! Responses as streams of server-sent events.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

use super::conversation::{Delivery, Exchange};
use super::event_log::{EventId, EventReader};
use super::sse::SseReader;

/// Interval of keep-alive comments on a silent stream.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Delay before a client resumes a stream, in milliseconds.
const RETRY: u32 = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// An event with an id and no data.
    Id,
    /// The first message.
    Message,
}

/// Until when a stream stays open. Every stream's response has its kind as an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamKind {
    /// Until the answer to a request.
    Answer,
    /// Until one side leaves.
    Standing,
}

#[derive(Debug)]
enum Source {
    /// The messages of one request. An interrupted stream cannot be resumed.
    Exchange(Box<Exchange>),
    Log(EventReader),
    Sse(Box<SseReader>),
}

/// Streams all messages of a request, up to its response.
pub(super) fn deliveries(kind: StreamKind, first: Option<Vec<u8>>, exchange: Exchange) -> Response {
    let first = first.map(|message| event(None, &message));
    response(kind, first, Source::Exchange(Box::new(exchange)))
}

/// A stream that can be resumed.
pub(super) fn resumable(kind: StreamKind, opening: Opening, reader: EventReader) -> Response {
    let first = match opening {
        Opening::Id => Some(format!("id: {}\nretry: {RETRY}\ndata: \n\n", reader.from())),
        Opening::Message => None,
    };
    response(kind, first, Source::Log(reader))
}

/// The stream of the older transport, which begins with the address for the client's messages.
pub(super) fn older(address: &str, reader: SseReader) -> Response {
    let first = format!("event: endpoint\ndata: {address}\n\n");
    response(StreamKind::Standing, Some(first), Source::Sse(Box::new(reader)))
}

fn response(kind: StreamKind, first: Option<String>, source: Source) -> Response {
    let events = stream::unfold((first, source), async |(first, mut source)| {
        let event = match first {
            Some(event) => event,
            // On a timeout, calling `next` again loses no message.
            None => match tokio::time::timeout(KEEP_ALIVE, source.next()).await {
                Ok(event) => event?,
                Err(_) => ":\n\n".to_owned(),
            },
        };
        Some((Ok::<_, Infallible>(Bytes::from(event)), (None, source)))
    });
    let headers = [
        (CONTENT_TYPE.as_str(), "text/event-stream"),
        (CACHE_CONTROL.as_str(), "no-cache, no-transform"),
        // Some proxies buffer small pieces unless this header forbids it.
        ("x-accel-buffering", "no"),
    ];
    (Extension(kind), headers, Body::from_stream(events)).into_response()
}

impl Source {
    async fn next(&mut self) -> Option<String> {
        match self {
            Source::Exchange(exchange) => match exchange.next().await? {
                Delivery::Message(message) | Delivery::Answer(message) => Some(event(None, &message)),
            },
            Source::Log(reader) => {
                let (id, message) = reader.next().await?;
                Some(event(Some(id), &message))
            }
            Source::Sse(reader) => Some(event(None, &reader.next().await?)),
        }
    }
}

fn event(id: Option<EventId>, message: &[u8]) -> String {
    let mut event = String::with_capacity(message.len() + 48);
    if let Some(id) = id {
        // Writing to a string cannot fail.
        let _ = writeln!(event, "id: {id}");
    }
    event.push_str("event: message\ndata: ");
    // A surface writes JSON: UTF-8 without line ends.
    event.push_str(String::from_utf8_lossy(message).trim_end());
    event.push_str("\n\n");
    event
}
