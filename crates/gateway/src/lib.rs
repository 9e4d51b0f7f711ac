//! Transports: how a client's bytes reach a surface, and how its answers get back.
//!
//! `message` decodes one message, `admission` decides whether the surface may see it, `reply` encodes the answer,
//! `transport` does all three over `pipes`. They know no bytes on a wire: `stdio` fills the pipes with lines, `http` with
//! the bodies of requests.

mod admission;
mod http;
mod in_flight;
mod lines;
mod message;
mod pipes;
mod reply;
mod serve;
mod stdio;
mod transport;

pub use admission::ConnectionEvents;
pub use http::{BadToken, Clients, Connector, HttpConfig, HttpConfigError, HttpService, Token, serve_http};
pub use pipes::Pipes;
pub use serve::{Connection, serve};
