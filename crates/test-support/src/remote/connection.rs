//! Serves one connection of a client, with the refusals that the test requested.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;

use super::hostile;
use super::http::{Client, Stream};
use super::protocol::Seen;
use super::relay::Relay;

#[derive(Debug)]
pub(super) struct State {
    pub(super) relay: Relay,
    pub(super) seen: Mutex<Vec<Seen>>,
    pub(super) token: Mutex<Option<String>>,
    pub(super) is_down: AtomicBool,
    /// Calls still to refuse, and the `Retry-After` of the refusals.
    pub(super) busy: Mutex<(usize, String)>,
    pub(super) connections: AtomicUsize,
    /// The status that refuses event streams, and the refusals left.
    pub(super) refusals: Mutex<(String, usize)>,
}

impl State {
    fn remember(&self, request: &Seen) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push(request.clone());
    }

    /// Counts down one refusal; returns its `Retry-After`.
    fn take_busy(&self) -> Option<String> {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        busy.0 = busy.0.checked_sub(1)?;
        Some(busy.1.clone())
    }

    fn token(&self) -> Option<String> {
        let token = self.token.lock();
        token.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The status that refuses the next request for an event stream.
    fn refusal(&self) -> Option<String> {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.1 = refusals.1.checked_sub(1)?;
        Some(refusals.0.clone())
    }
}

pub(super) async fn serve(stream: Box<dyn Stream>, state: Arc<State>) {
    let mut client = Client::new(stream);
    // A client may disconnect at any point; the server treats this as a normal end.
    while let Ok(Some(request)) = client.request().await {
        state.remember(&request);
        if answer(&mut client, &state, &request).await.is_err() {
            return;
        }
    }
}

async fn answer(client: &mut Client, state: &State, request: &Seen) -> Result<()> {
    if state.is_down.load(Ordering::SeqCst) {
        let headers = [("Retry-After", "1")];
        return client
            .respond("503 Service Unavailable", &headers, b"down for repairs")
            .await;
    }
    if let Some(token) = state.token()
        && request.header("authorization") != Some(&format!("Bearer {token}"))
    {
        let headers = [(
            "WWW-Authenticate",
            "Bearer error=\"invalid_token\", error_description=\"the token has expired\"",
        )];
        let body = format!("{:?}", request.headers);
        return client
            .respond("401 Unauthorized", &headers, body.as_bytes())
            .await;
    }
    if request.message["method"] == "tools/call"
        && let Some(pause) = state.take_busy()
    {
        let headers = [("Retry-After", pause.as_str())];
        return client
            .respond("429 Too Many Requests", &headers, b"slow down")
            .await;
    }
    if request.method == "GET"
        && let Some(status) = state.refusal()
    {
        return client.respond(&status, &[], b"not now").await;
    }
    if hostile::answer(client, request).await? {
        return Ok(());
    }
    state.relay.answer(client, request).await
}
