//! One connection to a surface, whose messages travel in HTTP requests.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rmcp::model::RequestId;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::to_raw_value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::era::ToolHead;
use super::event_log::{EventBudget, EventLog, EventReader, ResumeError};
use super::message_fields::{MessageFields, Repeated};
use super::routes::{Route, RouteError, Routes};
use super::{Clients, Connector};
use crate::lines::Line;
use crate::pipes::{Ended, Outgoing, Pipes};

/// Longest age of the cached tool list that headers are checked against.
const LISTED_FOR: Duration = Duration::from_secs(5);

/// Limit on streams and unanswered requests of one session.
const MOST_OF_ONE: usize = 64;

/// Limit on streams and unanswered requests of all clients without a session together.
const MOST_OF_MANY: usize = 512;

/// Limit on unread messages per request of the older transport; at the limit, further requests wait.
const ANSWER_QUEUE: usize = 16;

/// A running surface. Dropping the last handle ends it.
#[derive(Debug)]
pub(super) struct Conversation {
    lines: mpsc::Sender<Line>,
    routes: Arc<Mutex<Routes>>,
    /// Permits for streams and requests.
    places: Arc<Semaphore>,
    /// Permits for unanswered requests over all conversations of a user.
    requests: Arc<Semaphore>,
    log: Arc<EventLog>,
    clients: Clients,
    used: Mutex<Instant>,
    /// The last tool list with its time; headers are checked against the list.
    tools: Mutex<Option<(Instant, Arc<[ToolHead]>)>>,
    /// Queue of the older transport's stream, to which all answers go.
    answers: OnceLock<mpsc::Sender<Vec<u8>>>,
    shutdown: DropGuard,
    /// Tracks the surface's tasks; empty when the surface has ended.
    serving: TaskTracker,
}

/// The messages for one request.
#[derive(Debug)]
pub(super) struct Exchange {
    conversation: Arc<Conversation>,
    route: Route,
    is_over: bool,
    on_leave: OnLeave,
    /// The permit; `None` once moved to a stream.
    place: Option<OwnedSemaphorePermit>,
    /// Held until the answer, even if the client has left.
    _request: OwnedSemaphorePermit,
}

/// What happens to a request whose client disconnects before the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnLeave {
    Cancel,
    /// The request continues, as the revisions with sessions require.
    GoOn,
}

#[derive(Debug)]
pub(super) enum Delivery {
    /// A notification or request of the surface.
    Message(Vec<u8>),
    /// The answer; always last.
    Answer(Vec<u8>),
}

#[derive(Debug, thiserror::Error)]
pub(super) enum AskError {
    #[error(transparent)]
    Route(#[from] RouteError),
    #[error(transparent)]
    TooManyStreams(#[from] TooManyStreams),
    #[error(transparent)]
    TooManyRequests(#[from] TooManyRequests),
    #[error(transparent)]
    Ended(#[from] Ended),
}

/// The user has reached the limit of unanswered requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many of your requests have no answer yet; wait for some")]
pub(super) struct TooManyRequests;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} requests and streams are open already; wait for answers, or close some")]
pub(super) struct TooManyStreams(usize);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum ListenError {
    #[error(transparent)]
    TooManyStreams(#[from] TooManyStreams),
    #[error(transparent)]
    Resume(#[from] ResumeError),
}

#[derive(Debug, thiserror::Error)]
pub(super) enum TellError {
    #[error(transparent)]
    Repeated(#[from] Repeated),
    #[error(transparent)]
    Ended(#[from] Ended),
}

// === impl Conversation ===

impl Conversation {
    pub(super) fn open(
        connector: &dyn Connector,
        clients: Clients,
        budget: EventBudget,
        requests: Arc<Semaphore>,
    ) -> Arc<Conversation> {
        let (pipes, lines, messages) = Pipes::channels();
        let shutdown = CancellationToken::new();
        let routes = Arc::default();
        let serving = TaskTracker::new();
        serving.spawn(connector.connect(pipes, clients, shutdown.clone()));
        serving.close();
        tokio::spawn(deliver(messages, Arc::clone(&routes)));
        Arc::new(Conversation {
            lines,
            routes,
            places: Arc::new(Semaphore::new(most_places(clients))),
            requests,
            log: EventLog::new(budget),
            clients,
            used: Mutex::new(Instant::now()),
            tools: Mutex::default(),
            answers: OnceLock::new(),
            shutdown: shutdown.drop_guard(),
            serving,
        })
    }

    pub(super) async fn ask(
        self: &Arc<Self>,
        request: &mut MessageFields<'_>,
        on_leave: OnLeave,
    ) -> Result<Exchange, AskError> {
        let place = self.place()?;
        let request_place = Arc::clone(&self.requests).try_acquire_owned();
        let request_place = request_place.map_err(|_| TooManyRequests)?;
        let route = self.routes.lock().begin(request, self.clients)?;
        let exchange = Exchange {
            conversation: Arc::clone(self),
            route,
            is_over: false,
            on_leave,
            place: Some(place),
            _request: request_place,
        };
        self.send(request).await?;
        Ok(exchange)
    }

    /// Sends a notification or an answer.
    pub(super) async fn tell(&self, message: &mut MessageFields<'_>) -> Result<(), TellError> {
        if message.method.as_deref() == Some("notifications/cancelled") {
            self.routes.lock().translate_cancellation(message)?;
        }
        Ok(self.send(message).await?)
    }

    /// Opens a stream for messages that are not related to a request.
    pub(super) fn listen(&self) -> Result<EventReader, TooManyStreams> {
        let (writer, reader) = self.log.open(self.place()?);
        self.routes.lock().listen(writer);
        Ok(reader)
    }

    /// Opens the older transport's only stream: messages that are not related to a request, and all answers.
    pub(super) fn listen_to_all(&self) -> Result<(EventReader, mpsc::Receiver<Vec<u8>>), TooManyStreams> {
        let reader = self.listen()?;
        let (answers, queue) = mpsc::channel(ANSWER_QUEUE);
        // A session has one stream; a second one would receive no answers.
        let _ = self.answers.set(answers);
        Ok((reader, queue))
    }

    /// The queue for answers; `None` unless the older transport opened the session.
    pub(super) fn answers(&self) -> Option<mpsc::Sender<Vec<u8>>> {
        self.answers.get().cloned()
    }

    /// A stream's messages after this event, stored and future.
    pub(super) fn resume(&self, last_event: &str) -> Result<EventReader, ListenError> {
        Ok(self.log.resume(last_event, self.place()?)?)
    }

    /// Start of the current idle time; `None` while a request or a stream is open.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let is_idle =
            self.routes.lock().is_idle() && self.places.available_permits() == most_places(self.clients);
        is_idle.then(|| self.log.left().max(*self.used.lock()))
    }

    fn place(&self) -> Result<OwnedSemaphorePermit, TooManyStreams> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        place.map_err(|_| TooManyStreams(most_places(self.clients)))
    }

    /// Whether the surface has stopped answering.
    pub(super) fn has_ended(&self) -> bool {
        self.lines.is_closed()
    }

    pub(super) fn end(&self) {
        self.shutdown.token().cancel();
    }

    /// Ends the surface and waits until all its tasks have ended.
    pub(super) async fn close(self: Arc<Self>) {
        let serving = self.serving.clone();
        self.end();
        drop(self);
        serving.wait().await;
    }

    /// The surface's tools, at most [`LISTED_FOR`] old; empty if the surface does not list tools.
    pub(super) async fn tools(self: &Arc<Self>) -> Arc<[ToolHead]> {
        let known = self.tools.lock().clone();
        if let Some((_, tools)) = known.filter(|(listed, _)| listed.elapsed() < LISTED_FOR) {
            return tools;
        }
        let tools = self.list_tools().await.unwrap_or_default();
        *self.tools.lock() = Some((Instant::now(), Arc::clone(&tools)));
        tools
    }

    async fn list_tools(self: &Arc<Self>) -> Option<Arc<[ToolHead]>> {
        #[derive(Deserialize)]
        struct ToolList {
            tools: Vec<ToolHead>,
        }
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let mut request = MessageFields {
            jsonrpc: "2.0".into(),
            id: Some(RequestId::Number(0)),
            method: Some("tools/list".into()),
            params: to_raw_value(&json!({ "_meta": meta })).ok().map(Cow::Owned),
            ..MessageFields::default()
        };
        let mut exchange = self.ask(&mut request, OnLeave::Cancel).await.ok()?;
        while let Some(delivery) = exchange.next().await {
            if let Delivery::Answer(answer) = delivery {
                let list: ToolList =
                    serde_json::from_str(MessageFields::parse(&answer)?.result?.get()).ok()?;
                return Some(list.tools.into());
            }
        }
        None
    }

    async fn send(&self, message: &MessageFields<'_>) -> Result<(), Ended> {
        *self.used.lock() = Instant::now();
        let line = Line::Whole(message.to_bytes());
        self.lines.send(line).await.map_err(|_| Ended)
    }
}

fn most_places(clients: Clients) -> usize {
    match clients {
        Clients::One => MOST_OF_ONE,
        Clients::Many => MOST_OF_MANY,
    }
}

/// Delivers the surface's messages until it has ended.
async fn deliver(mut messages: mpsc::Receiver<Outgoing>, routes: Arc<Mutex<Routes>>) {
    while let Some(outgoing) = messages.recv().await {
        drop(outgoing.guard);
        if !outgoing.message.is_empty() {
            routes.lock().deliver(&outgoing.message);
        }
        // The sender may have stopped waiting.
        let _ = outgoing.written.send(());
    }
    // Dropping the routes ends every waiting request.
    *routes.lock() = Routes::default();
}

// === impl Exchange ===

impl Exchange {
    /// Redirects all further messages to a resumable stream. The request continues without a reader.
    pub(super) fn into_stream(mut self, first: Option<Vec<u8>>) -> Result<EventReader, TooManyStreams> {
        let place = match self.place.take() {
            Some(place) => place,
            None => self.conversation.place()?,
        };
        let (writer, reader) = self.conversation.log.open(place);
        tokio::spawn(async move {
            if let Some(message) = first {
                writer.message(&message);
            }
            while let Some(delivery) = self.next().await {
                match delivery {
                    Delivery::Message(message) => writer.message(&message),
                    Delivery::Answer(answer) => writer.answer(&answer),
                }
            }
        });
        Ok(reader)
    }

    /// Sends all further messages to the older transport's stream.
    pub(super) fn forward(mut self, answers: mpsc::Sender<Vec<u8>>) {
        tokio::spawn(async move {
            while let Some(Delivery::Message(message) | Delivery::Answer(message)) = self.next().await {
                if answers.send(message).await.is_err() {
                    break;
                }
            }
        });
    }

    /// The next message; `None` after the answer, or if the surface ended without one.
    pub(super) async fn next(&mut self) -> Option<Delivery> {
        if self.is_over {
            return None;
        }
        tokio::select! {
            biased;
            // Deliver the messages written before the response first.
            Some(message) = self.route.messages.recv() => Some(Delivery::Message(message)),
            answer = &mut self.route.answer => {
                self.is_over = true;
                answer.ok().map(Delivery::Answer)
            }
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        *self.conversation.used.lock() = Instant::now();
        if self.is_over {
            return;
        }
        self.conversation.routes.lock().end(self.route.number);
        if self.on_leave == OnLeave::Cancel {
            let (conversation, number) = (Arc::clone(&self.conversation), self.route.number);
            tokio::spawn(async move {
                // If the conversation has ended, no request is left to cancel.
                let _ = conversation.send(&cancellation(number)).await;
            });
        }
    }
}

fn cancellation(number: i64) -> MessageFields<'static> {
    let params = json!({"requestId": RequestId::Number(number), "reason": "the client has left"});
    MessageFields {
        jsonrpc: "2.0".into(),
        method: Some("notifications/cancelled".into()),
        params: to_raw_value(&params).ok().map(Cow::Owned),
        ..MessageFields::default()
    }
}
