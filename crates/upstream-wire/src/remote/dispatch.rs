//! Sends the messages of one connection: requests concurrently, but the handshake before everything else.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::endpoint::{Closed, Endpoint, EndpointConfig};
use super::exchange;
use super::listen;
use super::message::OutgoingMessage;
use crate::definition::HttpKind;

/// Longest wait for the stream of notifications before other requests are sent.
const LISTEN_TIMEOUT: Duration = Duration::from_millis(500);
/// When this many requests are stored, the completed ones are removed.
const CLEANUP_THRESHOLD: usize = 64;

/// Runs until the transport is closed or the connection fails.
pub(super) async fn run(config: EndpointConfig, mut messages: mpsc::Receiver<Vec<u8>>) {
    let endpoint = match Endpoint::new(config).await {
        Ok(endpoint) => Arc::new(endpoint),
        Err((end, cause)) => {
            end.send_replace(Some(Closed {
                cause,
                awaits_login: false,
            }));
            return;
        }
    };
    let _stop = endpoint.stop.clone().drop_guard();
    if endpoint.kind == HttpKind::Sse
        && let Err(error) = listen::open(&endpoint).await
    {
        return endpoint.fail_connection(&error);
    }
    let mut dispatcher = Dispatcher {
        endpoint: Arc::clone(&endpoint),
        requests: HashMap::new(),
    };
    let mut end = endpoint.end.subscribe();
    loop {
        // `endpoint` holds the sender, so waiting cannot fail.
        let closed = async { drop(end.wait_for(Option::is_some).await) };
        let message = tokio::select! {
            biased;
            () = closed => return,
            message = messages.recv() => message,
        };
        match message {
            Some(message) => dispatcher.take(message).await,
            None => break,
        }
    }
    endpoint.stop.cancel();
    endpoint.delete_session().await;
    endpoint.finish("was disconnected".to_owned());
}

struct Dispatcher {
    endpoint: Arc<Endpoint>,
    requests: HashMap<i64, AbortHandle>,
}

impl Dispatcher {
    async fn take(&mut self, line: Vec<u8>) {
        // The transport wrote the message, so reading succeeds.
        let Some(message) = OutgoingMessage::read(line) else {
            return;
        };
        if let Some(id) = message.cancels {
            if let Some(request) = self.requests.remove(&id) {
                request.abort();
            }
            // Without a session, closing the stream cancels the request.
            if !self.endpoint.is_stateful() {
                return;
            }
        }
        match message.id {
            Some(id) => self.request(message, id),
            None if message.method == "notifications/initialized" => {
                exchange::notify(&self.endpoint, &message).await;
                if !self.endpoint.uses_sse() {
                    self.listen().await;
                }
            }
            None => {
                self.endpoint
                    .spawn(|endpoint| async move { exchange::notify(&endpoint, &message).await });
            }
        }
    }

    /// Opens the stream of notifications before further requests: some servers drop notifications without a stream.
    async fn listen(&self) {
        let (opened, is_open) = oneshot::channel();
        self.endpoint
            .spawn(|endpoint| async move { listen::run(&endpoint, opened).await });
        // The stream is open, refused or slow.
        let _ = timeout(LISTEN_TIMEOUT, is_open).await;
    }

    fn request(&mut self, message: OutgoingMessage, id: i64) {
        if self.requests.len() >= CLEANUP_THRESHOLD {
            self.requests.retain(|_, request| !request.is_finished());
        }
        let request = self
            .endpoint
            .spawn(move |endpoint| async move { exchange::request(&endpoint, &message, id).await });
        self.requests.insert(id, request);
    }
}
