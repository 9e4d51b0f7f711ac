//! Tracks open connections.
//!
//! At the limit, a new connection closes the connection that has been idle longest.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::response::Response;
use http::Extensions;
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

#[derive(Debug)]
pub(super) struct Connections {
    most: usize,
    state: Mutex<ConnectionsState>,
}

#[derive(Debug, Default)]
struct ConnectionsState {
    /// Counts events on connections; the count orders them.
    clock: u64,
    open: HashMap<u64, OpenConnection>,
}

#[derive(Debug)]
struct OpenConnection {
    /// Requests that were read and whose response is not complete.
    requests: usize,
    idle_since: u64,
    closing: CancellationToken,
}

#[derive(Debug, Clone)]
pub(super) struct ConnectionHandle {
    connections: Arc<Connections>,
    number: u64,
}

/// Removes the connection on drop.
#[derive(Debug)]
pub(super) struct ConnectionPlace {
    pub(super) handle: ConnectionHandle,
    /// Triggered when the connection must make room for another.
    pub(super) closing: CancellationToken,
}

/// A request that was read and whose response is not complete.
#[derive(Debug)]
pub(super) struct RequestUnderWay {
    handle: ConnectionHandle,
    /// The principal's permit for the request.
    _place: Option<OwnedSemaphorePermit>,
}

/// Body of a response; the request is in flight until the body ends.
struct ResponseBody {
    body: Body,
    _request: RequestUnderWay,
}

/// Answers an admitted request; the connection stays open until the response is sent.
pub(super) async fn under_way(
    extensions: &Extensions,
    place: Option<OwnedSemaphorePermit>,
    answering: impl Future<Output = Response>,
) -> Response {
    let handle = extensions.get::<ConnectionHandle>();
    let request = handle.map(|handle| handle.begin(place));
    let response = answering.await;
    match request {
        Some(request) => request.until_sent(response),
        None => response,
    }
}

// === impl Connections ===

impl Connections {
    pub(super) fn new(most: usize) -> Arc<Connections> {
        Arc::new(Connections {
            most,
            state: Mutex::default(),
        })
    }

    /// Adds a connection; `None` if the limit is reached and every connection has a request in flight.
    pub(super) fn add(self: &Arc<Self>) -> Option<ConnectionPlace> {
        let mut state = self.state.lock();
        if state.open.len() >= self.most {
            let idle = state.open.iter().filter(|(_, open)| open.requests == 0);
            let (_, longest) = idle.map(|(number, open)| (open.idle_since, *number)).min()?;
            if let Some(open) = state.open.remove(&longest) {
                open.closing.cancel();
            }
        }
        state.clock += 1;
        let number = state.clock;
        let closing = CancellationToken::new();
        let open = OpenConnection {
            requests: 0,
            idle_since: number,
            closing: closing.clone(),
        };
        state.open.insert(number, open);
        let handle = ConnectionHandle {
            connections: Arc::clone(self),
            number,
        };
        Some(ConnectionPlace { handle, closing })
    }
}

// === impl ConnectionHandle ===

impl ConnectionHandle {
    /// Marks a complete, admitted request: the connection stays open until the response is sent.
    pub(super) fn begin(&self, place: Option<OwnedSemaphorePermit>) -> RequestUnderWay {
        if let Some(open) = self.connections.state.lock().open.get_mut(&self.number) {
            open.requests += 1;
        }
        RequestUnderWay {
            handle: self.clone(),
            _place: place,
        }
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        let handle = &self.handle;
        handle.connections.state.lock().open.remove(&handle.number);
    }
}

// === impl RequestUnderWay ===

impl RequestUnderWay {
    /// Keeps the request in flight until the response is sent.
    pub(super) fn until_sent(self, response: Response) -> Response {
        response.map(|body| Body::new(ResponseBody { body, _request: self }))
    }
}

impl Drop for RequestUnderWay {
    fn drop(&mut self) {
        let mut state = self.handle.connections.state.lock();
        state.clock += 1;
        let now = state.clock;
        if let Some(open) = state.open.get_mut(&self.handle.number) {
            open.requests -= 1;
            open.idle_since = now;
        }
    }
}

// === impl ResponseBody ===

impl hyper::body::Body for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_connection_without_a_request_for_longest_makes_room() {
        let connections = Connections::new(2);
        let (first, second) = (
            connections.add().expect("a place"),
            connections.add().expect("a place"),
        );
        let request = first.handle.begin(None);
        let third = connections.add().expect("a place");
        assert!(!first.closing.is_cancelled() && second.closing.is_cancelled());
        let _busy = third.handle.begin(None);
        assert!(connections.add().is_none(), "a request is under way on each");
        drop(request);
        let fourth = connections.add().expect("a place");
        assert!(first.closing.is_cancelled() && !third.closing.is_cancelled());
        drop((second, fourth));
        let fifth = connections.add();
        assert!(
            fifth.is_some() && !third.closing.is_cancelled(),
            "a closed one left its place"
        );
    }
}
