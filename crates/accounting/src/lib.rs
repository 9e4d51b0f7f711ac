//! Costs of tools and runs for a model, in tokens: counting, receipts, sums over recorded runs, advice.
//!
//! No I/O, no lock.
//!
//! ```text
//! texts of calls ─► tokens ─► DirectCalls ─► Receipt ─► RecordedReceipt ─► [store]
//! [store] ─► RunCost (a receipt, or bytes: estimates) ─► Ledger (savings), Advice
//! ```
//!
//! Counting takes time and memory, so callers count on threads for blocking work and load the tokenizer for the first
//! text.

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
pub use tokens::{DefinitionCounts, ENCODING, TokenTableError, Tokenizer, answer_text};

/// `one` minus `other`, which may be negative.
fn difference(one: u64, other: u64) -> i64 {
    one.checked_signed_diff(other)
        .unwrap_or(if one > other { i64::MAX } else { i64::MIN })
}
