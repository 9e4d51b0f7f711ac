//! Receipts: what they say, against another tokenizer and the servers' own messages; what is kept of them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

#[path = "receipts/independent.rs"]
mod independent;
#[path = "receipts/kept.rs"]
mod kept;
#[path = "receipts/said.rs"]
mod said;
