//! The hub: starts upstream MCP servers or connects to them when they are needed, keeps their tool lists, and calls their tools.
//!
//! ```text
//! Hub ── one Server (driver task) per definition ── Connection (MCP service over pipes) ── Carrier: supervised process, or HTTP
//! ```
//!
//! INVARIANT: nothing of a server's answer is decoded into a closed type; results and definitions keep every field.

mod activity;
mod aside;
mod breaker;
mod cache;
mod calls;
mod carrier;
mod client;
mod config;
mod connection;
mod driver;
mod environment;
mod error;
mod groups;
mod handshake;
mod hub;
mod link;
mod listing;
mod logs;
pub mod oauth;
mod places;
mod process;
mod question;
mod remote;
mod roster;
mod secrets;
mod server;
mod start;
mod stderr;
mod tally;
mod transport;

pub use aside::aside;
pub use client::{Answered, Client, Refusal};
pub use config::{Config, Http, HttpKind, OAuth, SecretValues, ServerConfig, ServerLimits, Stdio, Transport};
pub use environment::{find_program, is_self_reference};
pub use error::{StartError, StderrTail, UpstreamError};
pub use hub::{Call, Era, Hub, ServerState, Status};
pub use jail::confinement::Confinement;
pub use listing::MAX_LIST_BYTES;
pub use logs::{KEPT as LOG_KEPT, log_file, log_file_before};
pub use question::Question;
pub use remote::{AddressError, check_header, check_url};

/// What a server writes, before anybody believes it: cut into lines and told apart. Pure.
pub mod stream {
    pub use crate::transport::{Answer, Frame, Line, Splitter};
}
