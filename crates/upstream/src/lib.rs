//! The hub: starts or connects to MCP servers when they are needed, keeps their tool lists, and calls their tools.
//!
//! ```text
//! Hub ─► ServerSet ─► ManagedServer (one for each definition) ─► Driver (its task) ─► upstream_wire::Connector
//!                       └─► Connection (sends requests) ◄──────┘
//! ```
//!
//! INVARIANT: results and definitions of tools keep every field; they are not decoded into closed types.

mod activity;
mod breaker;
mod bucket;
mod cache;
mod calls;
mod concurrency;
mod config;
mod connection;
mod credential;
mod driver;
mod error;
mod hub;
mod listing;
mod own_logins;
mod relay;
mod server;
mod server_set;
mod shared;
mod start;
mod state;
mod stats;
mod user_servers;

pub use bucket::{CallWindows, NotCounted, Taking};
pub use config::{HubConfig, ServerConfig};
pub use error::UpstreamError;
pub use hub::{Hub, ServerOwner, ToolCall};
pub use listing::MAX_LIST_BYTES;
pub use relay::RelayRequest;
pub use state::{ServerState, Status};
