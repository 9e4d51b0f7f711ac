//! Receipts: their content, another tokenizer's counts of the same messages, and what is recorded of them.

mod content;
mod independent;
mod recorded;
