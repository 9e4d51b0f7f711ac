//! Upstream servers behind programs: misbehaving ones, their lives, and a client that misbehaves itself.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

#[path = "servers/care.rs"]
mod care;
#[path = "servers/lines.rs"]
mod lines;
#[path = "servers/lives.rs"]
mod lives;
#[path = "servers/misbehaving.rs"]
mod misbehaving;
