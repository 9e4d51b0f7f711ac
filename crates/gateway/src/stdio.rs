//! JSON-RPC over a pair of byte streams, one message a line; nothing else is ever written to them.

mod flights;
mod lines;
mod message;
mod pipes;
mod transport;
mod turns;

pub use pipes::Pipes;
pub use transport::Signals;
pub(crate) use transport::StdioTransport;
pub(crate) use turns::Turn;
