//! The hub: starts upstream MCP servers over stdio when they are needed, keeps their tool lists, and calls their tools.
//!
//! ```text
//! Hub ── one Server (driver task) per definition ── Connection (MCP service over pipes) ── supervised process
//! ```
//!
//! INVARIANT: nothing of a server's answer is decoded into a closed type; results and definitions keep every field.

mod config;
mod error;
mod hub;

pub use config::{Config, ServerConfig};
pub use error::{StartError, StderrTail, UpstreamError};
pub use hub::{Call, Era, Hub, ServerState, Status};
