//! Advice from recorded runs, and tools that clients see themselves because the operator exposes them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

#[path = "advice/exposed.rs"]
mod exposed;
#[path = "advice/given.rs"]
mod given;
#[path = "advice/lived.rs"]
mod lived;
