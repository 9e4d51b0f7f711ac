//! The protocol as clients see it: a connection over in-memory streams to a scripted service.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

#[path = "protocol/api.rs"]
mod api;
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
