//! Many principals on one host: none sees another, and nothing stays behind when one leaves.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

mod apart;
mod passing;
mod yard;
