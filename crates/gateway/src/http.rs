//! MCP's Streamable HTTP: the bodies of requests become messages to a surface, and what it says comes back as JSON or events.
//!
//! ```text
//! connection ─► listener ─► guard (host, origin, token) ─► endpoint ─► conversation ─► Pipes ─► surface
//!                                                             ▲              │
//!                                                             └── routes ◄───┘ answers by id, progress by token
//! ```
//!
//! Clients of the revisions with sessions have a conversation each; all others share one. The events of such a client pass
//! through the `event_log` of its conversation, from which it resumes a stream.

mod body;
mod connections;
mod conversation;
mod endpoint;
mod era;
mod event_log;
mod events;
mod guard;
mod listener;
mod message_fields;
mod routes;
mod sessions;

use std::future::Future;
use std::pin::Pin;

use tokio_util::sync::CancellationToken;

use crate::pipes::Pipes;

pub use guard::{BadToken, Token};
pub use listener::{HttpConfig, HttpConfigError, HttpService, serve_http};

/// Whose messages a conversation has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clients {
    /// Those of one client, which has a session; its requests under way have different ids.
    One,
    /// Those of all clients that have none.
    Many,
}

/// Opens conversations with a surface.
pub trait Connector: Send + Sync + 'static {
    /// Serves these clients over the pipes until they leave or `shutdown` is triggered.
    fn connect(
        &self,
        pipes: Pipes,
        clients: Clients,
        shutdown: CancellationToken,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>>;
}
