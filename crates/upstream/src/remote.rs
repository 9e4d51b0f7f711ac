//! A connection to a remote server: it stands where the pipes of a process would, and speaks HTTP beyond.
//!
//! ```text
//! Pipes ── messages ──► dispatch ── one exchange per message ──► POST ─► answer, or a stream of events
//!   ▲                      └─────── one listener ──────────────► GET ──► a stream of events
//!   └───── lines, failures ◄──────────────────────────────────────────────────┘
//! ```
//!
//! What the server sends is passed on as it came, so that everything that is true of a process's lines stays true.

mod address;
mod answer;
pub(crate) mod client;
mod credentials;
mod dispatch;
mod endpoint;
mod events;
mod exchange;
mod listen;
mod outgoing;
pub(crate) mod parameters;
mod sse;
mod trouble;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;
use tokio::time::timeout;

pub use address::{AddressError, check_url};
pub(crate) use address::{check_named, parse};
pub use credentials::check_header;
pub(crate) use credentials::{definition_headers, secret};

use crate::config::Http;
use crate::error::StartError;
use crate::link::Link;
use crate::transport::{Pipes, Traffic};
use endpoint::Parts;

/// Messages that wait for the dispatcher.
const OUTGOING: usize = 64;
/// Messages that wait for the reader: each may be as long as a line.
const INCOMING: usize = 4;
/// How long a goodbye may take.
const GOODBYE: Duration = Duration::from_secs(3);

/// How a connection ended.
#[derive(Debug, Clone, Default)]
struct End {
    cause: String,
    awaits_login: bool,
}

/// One connection. Dropping it ends all that it does.
#[derive(Debug)]
pub(crate) struct Remote {
    ended: watch::Receiver<Option<End>>,
    dispatcher: AbortHandle,
}

impl Remote {
    /// Prepares a connection; the first message opens it.
    pub(crate) fn open(
        http: &Http,
        link: &Arc<Link>,
        traffic: Arc<Traffic>,
    ) -> Result<(Remote, Pipes), StartError> {
        let url = address::parse(&http.url).map_err(|error| StartError::Unreachable {
            cause: format!("`url` {error}"),
        })?;
        let (outgoing, messages) = mpsc::channel(OUTGOING);
        let (inbox, incoming) = mpsc::channel(INCOMING);
        let (end, ended) = watch::channel(None);
        let parts = Parts {
            url,
            http: http.clone(),
            link: Arc::clone(link),
            traffic: Arc::clone(&traffic),
            inbox,
            end,
        };
        let dispatcher = tokio::spawn(dispatch::run(parts, messages)).abort_handle();
        let remote = Remote { ended, dispatcher };
        Ok((remote, Pipes::of_channels(outgoing, incoming, traffic)))
    }

    /// Waits until the connection is over and says how. Safe to cancel.
    pub(crate) async fn ended(&mut self) -> String {
        match self.ended.wait_for(Option::is_some).await {
            Ok(end) => end.clone().unwrap_or_default().cause,
            Err(_dropped) => "was disconnected".to_owned(),
        }
    }

    /// Whether it is over because somebody has to log in first.
    pub(crate) fn awaits_login(&self) -> bool {
        self.ended.borrow().as_ref().is_some_and(|end| end.awaits_login)
    }

    /// Takes leave, after the pipes were closed; says how it ended.
    pub(crate) async fn stop(&mut self) -> String {
        match timeout(GOODBYE, self.ended()).await {
            Ok(end) => end,
            Err(_elapsed) => {
                self.kill();
                "was disconnected without an answer".to_owned()
            }
        }
    }

    /// Ends it without a goodbye.
    pub(crate) fn kill(&self) {
        self.dispatcher.abort();
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.kill();
    }
}
