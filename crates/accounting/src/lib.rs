//! What tools and runs cost a model in tokens: counting, receipts of runs, sums over recorded runs, advice.
//!
//! No I/O, no lock.
//!
//! ```text
//! texts of calls ─► tokens ─► DirectCalls ─► Receipt ─► RecordedReceipt ─► [store]
//! [store] ─► RunCost (a receipt, or bytes: estimates) ─► Ledger (savings), Advice
//! ```
//!
//! There is one way to count. It takes time and memory, so its callers count on threads for blocking work, and load the
//! tokenizer when the first text is to be counted.

mod advice;
mod direct;
pub mod estimates;
mod receipt;
mod recorded;
mod savings;
mod searches;
mod tokens;

pub use advice::{Advice, MIN_LOOKUPS, Recommendation, ToolAdvice};
pub use direct::{AnswerTokens, CountedCall, DirectCalls, DirectCost, DirectDefinitions, ToolTokens};
pub use receipt::{Receipt, ReceiptForm, ReceiptInput, surface_tokens, usage_json};
pub use recorded::{CallBytes, RecordedReceipt, RunCost};
pub use savings::{GroupBy, KnownDefinitions, Ledger, SavingsLine, ServerLine};
pub use searches::SearchTexts;
pub use tokens::{DefinitionCounts, ENCODING, Tokenizer, Unloadable, answer_text};

/// How far `one` is above `other`; negative if it is below.
fn difference(one: u64, other: u64) -> i64 {
    one.checked_signed_diff(other)
        .unwrap_or(if one > other { i64::MAX } else { i64::MIN })
}
