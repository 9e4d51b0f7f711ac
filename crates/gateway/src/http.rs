//! MCP's Streamable HTTP: request bodies become messages to a surface; the surface's messages return as JSON or
//! events.
//!
//! ```text
//! connection ─► listener (TLS) ─► guard (host, origin, token) ─► endpoint ─► conversation ─► Pipes ─► surface
//!                                                                   ▲              │
//!                                                                   └── routes ◄───┘ answers by id, progress by token
//! ```
//!
//! [`serve_http`] serves one surface. [`serve_api`] serves REST and a surface for each virtual server and token, over
//! the same endpoints.
//!
//! Clients of the revisions with sessions have a conversation each; all others share one. A session
//! client's events pass through its conversation's `event_log`, from which it can resume a stream.

mod api;
mod body;
mod connections;
mod conversation;
mod endpoint;
mod era;
mod event_log;
mod events;
mod forwarded;
mod guard;
mod http_refusal;
mod listener;
mod login_page;
mod message_fields;
mod routes;
mod serve_api;
mod serve_http;
mod sessions;
mod single;
mod sse;
mod tls;
mod trace_header;

use std::future::Future;
use std::pin::Pin;

use tokio_util::sync::CancellationToken;

use crate::pipes::Pipes;

pub use api::{Api, ApiReply, ApiRequest, ApiSurface, OtherProcess, Place, RefusedAttempt, ReplyParts};
pub use guard::{BadToken, Token};
pub use listener::HttpListener;
pub use login_page::{LoginPage, LoginVisit, LoginWay};
pub use serve_api::{ApiConfig, serve_api};
pub use serve_http::{HttpConfig, HttpConfigError, HttpService, serve_http};
pub use tls::{Tls, TlsError, TlsIdentity};

/// The clients of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clients {
    /// One client with a session; its concurrent requests have different ids.
    One,
    /// All clients without a session.
    Many,
}

/// Opens conversations with a surface.
pub trait Connector: Send + Sync + 'static {
    /// Serves these clients over the pipes until the clients disconnect or `shutdown` is triggered.
    fn connect(
        &self,
        pipes: Pipes,
        clients: Clients,
        shutdown: CancellationToken,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>>;
}
