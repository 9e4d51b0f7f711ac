//! Counts what a model is sent and what it writes, in tokens of o200k: texts, definitions of tools, answers of tools.
//!
//! There is one way to count, for `codeyard servers`, the demonstration, receipts and advice. It takes time and memory,
//! so it belongs on a thread for blocking work and begins when something is to be counted.

mod answer;
mod counter;
mod definition;
mod pieces;

pub use answer::answer_text;
pub use counter::{Counter, Tokenizer, Unloadable};

/// The name of the encoding, as its makers write it.
pub const ENCODING: &str = "o200k_base";

/// How many tokens one count is more than another; below zero if it is less.
pub fn difference(one: u64, other: u64) -> i64 {
    one.checked_signed_diff(other)
        .unwrap_or(if one > other { i64::MAX } else { i64::MIN })
}
