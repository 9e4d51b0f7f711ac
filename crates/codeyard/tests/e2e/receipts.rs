//! Receipts: their content, another tokenizer's counts of the same messages, and their records.

mod content;
mod independent;
mod recorded;
