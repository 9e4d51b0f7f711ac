//! Transports: carry a client's bytes to a surface, and its answers back.
//!
//! `message` decodes a message, `admission` decides whether the surface may see it, `reply` encodes
//! the answer, and `transport` does all three over `pipes`. These modules see no wire format:
//! `stdio` fills the pipes with lines, `http` with request bodies.

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
pub use http::{
    Api, ApiConfig, ApiReply, ApiRequest, ApiSurface, LoginPage, LoginVisit, LoginWay, OtherProcess, Place,
    RefusedAttempt, ReplyParts, serve_api,
};
pub use http::{BadToken, Clients, Connector, HttpConfig, HttpConfigError, HttpService, Token, serve_http};
pub use http::{HttpListener, Tls, TlsError, TlsIdentity};
pub use pipes::Pipes;
pub use serve::{Connection, serve};
