//! The protocol as a client meets it: one connection over in-memory streams, a scripted service behind it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

#[path = "protocol/client.rs"]
mod client;
#[path = "protocol/ends.rs"]
mod ends;
#[path = "protocol/eras.rs"]
mod eras;
#[path = "protocol/noise.rs"]
mod noise;
#[path = "protocol/runs.rs"]
mod runs;
