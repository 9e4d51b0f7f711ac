//! Estimates tokens from recorded bytes, for runs without a receipt.
//!
//! Source of the ratios: the test of receipts over real servers.

/// A program as a model writes it.
pub fn program(bytes: u64) -> u64 {
    at_rate(bytes, 303)
}

/// Results and output as a model reads them.
pub fn shown(bytes: u64) -> u64 {
    at_rate(bytes, 293)
}

/// Queries and answers of searches.
pub fn searched(bytes: u64) -> u64 {
    at_rate(bytes, 430)
}

/// Arguments of calls.
pub fn arguments(bytes: u64) -> u64 {
    at_rate(bytes, 315)
}

/// Answers. `bytes` counts the servers' messages, of which a model reads only the text.
pub fn answers(bytes: u64) -> u64 {
    at_rate(bytes, 651)
}

fn at_rate(bytes: u64, bytes_per_100_tokens: u64) -> u64 {
    bytes.saturating_mul(100).div_ceil(bytes_per_100_tokens)
}
