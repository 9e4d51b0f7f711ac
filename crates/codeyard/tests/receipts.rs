//! Receipts: their content, another tokenizer's counts of the same messages, and what is recorded of them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

#[path = "receipts/content.rs"]
mod content;
#[path = "receipts/independent.rs"]
mod independent;
#[path = "receipts/recorded.rs"]
mod recorded;
