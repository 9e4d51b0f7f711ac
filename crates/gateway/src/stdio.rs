//! JSON-RPC over a pair of byte streams, one message a line; nothing else is ever written to them.

mod lines;
mod pipes;
mod transport;

pub use pipes::Pipes;
pub(crate) use transport::StdioTransport;
