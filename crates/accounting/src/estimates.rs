//! Estimates tokens from recorded bytes, for runs without a receipt.
//!
//! The ratios were measured by the test of receipts over real servers.

/// Tokens of a program as a model writes it.
pub fn program(bytes: u64) -> u64 {
    at_rate(bytes, 303)
}

/// Tokens of results and output as a model reads them.
pub fn shown(bytes: u64) -> u64 {
    at_rate(bytes, 293)
}

/// Tokens of searches: the queries and the answers.
pub fn searched(bytes: u64) -> u64 {
    at_rate(bytes, 430)
}

/// Tokens of the arguments of calls.
pub fn arguments(bytes: u64) -> u64 {
    at_rate(bytes, 315)
}

/// Tokens of answers. The bytes are those of the servers' messages, of which a model reads the text only.
pub fn answers(bytes: u64) -> u64 {
    at_rate(bytes, 651)
}

fn at_rate(bytes: u64, bytes_per_100_tokens: u64) -> u64 {
    bytes.saturating_mul(100).div_ceil(bytes_per_100_tokens)
}
