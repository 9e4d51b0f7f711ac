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
pub use definition::model_view;

/// The name of the encoding, as its makers write it.
pub const ENCODING: &str = "o200k_base";
