//! The sessions of clients, and the shared conversation of all clients without a session.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::conversation::Conversation;
use super::era::ToolHead;
use super::event_log::EventBudget;
use super::{Clients, Connector};

/// A session unused for this long ends.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// Interval of checks for unused sessions.
pub(super) const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// All conversations with one surface.
pub(super) struct Conversations {
    connector: Box<dyn Connector>,
    /// Limit on sessions; at the limit, a new session ends the session that was unused longest.
    most_sessions: usize,
    sessions: Mutex<HashMap<String, Arc<Conversation>>>,
    shared: Mutex<Option<Arc<Conversation>>>,
    budget: EventBudget,
    /// Permits for unanswered requests of the conversations' user.
    requests: Arc<Semaphore>,
}

/// A session that `initialize` is still opening. Dropping it ends the session.
#[derive(Debug)]
pub(super) struct OpeningSession<'a> {
    conversations: &'a Conversations,
    id: String,
    is_agreed: bool,
}

/// There are too many sessions, all in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} sessions are in use; end some with DELETE, or wait")]
pub(super) struct TooManySessions(usize);

// === impl Conversations ===

impl Conversations {
    pub(super) fn new(
        connector: Box<dyn Connector>,
        most_sessions: usize,
        budget: EventBudget,
        requests: Arc<Semaphore>,
    ) -> Conversations {
        Conversations {
            connector,
            most_sessions,
            sessions: Mutex::default(),
            shared: Mutex::default(),
            budget,
            requests,
        }
    }

    pub(super) fn session(&self, id: &str) -> Option<Arc<Conversation>> {
        self.sessions.lock().get(id).cloned()
    }

    /// Begins a session, which ends unless [`OpeningSession::agree`] is called.
    pub(super) fn begin(&self) -> Result<(OpeningSession<'_>, Arc<Conversation>), TooManySessions> {
        let id = random_id();
        let mut sessions = self.sessions.lock();
        if sessions.len() >= self.most_sessions {
            let unused = sessions
                .iter()
                .filter_map(|(id, one)| Some((one.idle_since()?, id)));
            let longest = unused.min().map(|(_, id)| id.clone());
            sessions.remove(&longest.ok_or(TooManySessions(self.most_sessions))?);
        }
        let conversation = Conversation::open(
            &*self.connector,
            Clients::One,
            self.budget.clone(),
            self.requests.clone(),
        );
        sessions.insert(id.clone(), Arc::clone(&conversation));
        let opening = OpeningSession {
            conversations: self,
            id,
            is_agreed: false,
        };
        Ok((opening, conversation))
    }

    /// Ends a session; returns whether it existed.
    pub(super) fn end(&self, id: &str) -> bool {
        let ended = self.sessions.lock().remove(id);
        // A stream of the client may still hold the conversation.
        ended.inspect(|conversation| conversation.end()).is_some()
    }

    /// The conversation of all clients without a session.
    pub(super) fn shared(&self) -> Arc<Conversation> {
        let mut shared = self.shared.lock();
        let living = shared.take().filter(|conversation| !conversation.has_ended());
        let conversation = living.unwrap_or_else(|| {
            Conversation::open(
                &*self.connector,
                Clients::Many,
                self.budget.clone(),
                self.requests.clone(),
            )
        });
        *shared = Some(Arc::clone(&conversation));
        conversation
    }

    /// The shared conversation's tools, for the check of headers.
    pub(super) async fn tools(&self) -> Arc<[ToolHead]> {
        self.shared().tools().await
    }

    /// Whether no request and no stream is open. Sessions may still be.
    pub(super) fn is_idle(&self) -> bool {
        let is_idle = |conversation: &Arc<Conversation>| conversation.idle_since().is_some();
        self.sessions.lock().values().all(is_idle) && self.shared.lock().iter().all(is_idle)
    }

    pub(super) fn has_sessions(&self) -> bool {
        !self.sessions.lock().is_empty()
    }

    /// Ends every conversation, without waiting.
    pub(super) fn end_all(&self) {
        for conversation in self.take_all() {
            conversation.end();
        }
    }

    /// Ends every conversation and waits for their surfaces.
    pub(super) async fn close(&self) {
        let conversations = self.take_all();
        conversations.iter().for_each(|conversation| conversation.end());
        for conversation in conversations {
            conversation.close().await;
        }
    }

    fn take_all(&self) -> Vec<Arc<Conversation>> {
        let sessions = std::mem::take(&mut *self.sessions.lock());
        let shared = self.shared.lock().take();
        sessions.into_values().chain(shared).collect()
    }

    /// Ends unused sessions. Never returns.
    pub(super) async fn sweep(&self) {
        loop {
            tokio::time::sleep(SWEEP_EVERY).await;
            self.end_idle(Instant::now());
        }
    }

    pub(super) fn end_idle(&self, now: Instant) {
        self.sessions.lock().retain(|_, conversation| {
            conversation
                .idle_since()
                .is_none_or(|since| now.duration_since(since) < IDLE)
        });
    }
}

// === impl OpeningSession ===

impl OpeningSession<'_> {
    /// Opens the session for the client; returns its id.
    pub(super) fn agree(mut self) -> String {
        self.is_agreed = true;
        std::mem::take(&mut self.id)
    }
}

impl Drop for OpeningSession<'_> {
    fn drop(&mut self) {
        if !self.is_agreed {
            self.conversations.end(&self.id);
        }
    }
}

impl fmt::Debug for Conversations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversations")
            .field("sessions", &self.sessions.lock().len())
            .finish_non_exhaustive()
    }
}

/// 128 random bits.
fn random_id() -> String {
    let mut bytes = [0; 16];
    // The kernel's random generator is initialised before any user process runs.
    getrandom::fill(&mut bytes).unwrap_or_else(|error| panic!("the kernel gives no random numbers: {error}"));
    hex::encode(bytes)
}
