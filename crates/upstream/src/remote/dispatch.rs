//! Sends each message on its way: requests side by side, what opens the session before everything that needs it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::End;
use super::endpoint::{Endpoint, Parts};
use super::exchange;
use super::listen;
use super::outgoing::Outgoing;
use crate::config::HttpKind;

/// How long a server may take to open the stream for what it says unasked before it is asked something all the same.
const LISTENING: Duration = Duration::from_millis(500);
/// Requests that are remembered before those that are over are forgotten.
const MANY: usize = 64;

/// Serves one connection until its messages end or it breaks.
pub(super) async fn run(parts: Parts, mut messages: mpsc::Receiver<Vec<u8>>) {
    let endpoint = match Endpoint::new(parts).await {
        Ok(endpoint) => Arc::new(endpoint),
        Err((end, cause)) => {
            end.send_replace(Some(End {
                cause,
                awaits_login: false,
            }));
            return;
        }
    };
    let _stop = endpoint.stop.clone().drop_guard();
    if endpoint.kind == HttpKind::Sse
        && let Err(trouble) = listen::open(&endpoint).await
    {
        return endpoint.finish_by(&trouble);
    }
    let mut dispatcher = Dispatcher {
        endpoint: Arc::clone(&endpoint),
        requests: HashMap::new(),
    };
    let mut end = endpoint.end.subscribe();
    loop {
        // The sender lives in `endpoint`, so that waiting cannot fail.
        let over = async { drop(end.wait_for(Option::is_some).await) };
        let message = tokio::select! {
            biased;
            () = over => return,
            message = messages.recv() => message,
        };
        match message {
            Some(message) => dispatcher.take(message).await,
            None => break,
        }
    }
    endpoint.stop.cancel();
    endpoint.leave().await;
    endpoint.finish("was disconnected".to_owned());
}

struct Dispatcher {
    endpoint: Arc<Endpoint>,
    /// Those under way.
    requests: HashMap<i64, AbortHandle>,
}

impl Dispatcher {
    async fn take(&mut self, line: Vec<u8>) {
        // It is ours, so that it can be read.
        let Some(message) = Outgoing::read(line) else {
            return;
        };
        if let Some(id) = message.cancels {
            if let Some(request) = self.requests.remove(&id) {
                request.abort();
            }
            // A closed stream says the same where there is no session.
            if !self.endpoint.is_stateful() {
                return;
            }
        }
        match message.id {
            Some(id) => self.request(message, id),
            None if message.method == "notifications/initialized" => {
                exchange::notify(&self.endpoint, &message).await;
                if !self.endpoint.is_two_way() {
                    self.listen().await;
                }
            }
            None => {
                self.endpoint
                    .beside(|endpoint| async move { exchange::notify(&endpoint, &message).await });
            }
        }
    }

    /// Hears what the server says unasked, before anything is asked of it: some servers lose what they say to nobody.
    async fn listen(&self) {
        let (heard, open) = oneshot::channel();
        self.endpoint
            .beside(|endpoint| async move { listen::run(&endpoint, heard).await });
        // Whether it is open, refused or slow: what follows need not wait for long.
        let _ = timeout(LISTENING, open).await;
    }

    fn request(&mut self, message: Outgoing, id: i64) {
        if self.requests.len() >= MANY {
            self.requests.retain(|_, request| !request.is_finished());
        }
        let request = self
            .endpoint
            .beside(move |endpoint| async move { exchange::request(&endpoint, &message, id).await });
        self.requests.insert(id, request);
    }
}
