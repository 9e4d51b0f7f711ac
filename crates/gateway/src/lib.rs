//! Transports: how a client's bytes reach a surface, and how its answers get back.
//!
//! Standard input and output so far.
//!
//! `message` decodes one message, `admission` decides whether the surface may see it, `reply` encodes the answer. They know
//! no transport; `stdio` adds lines and pipes.

mod admission;
mod in_flight;
mod message;
mod reply;
mod serve;
mod stdio;

pub use admission::ConnectionEvents;
pub use serve::{Connection, serve};
pub use stdio::Pipes;
