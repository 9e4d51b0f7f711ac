//! Many principals on one host: nothing of one is seen by another, and nothing is left of those who go.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

mod apart;
mod passing;
mod yard;
