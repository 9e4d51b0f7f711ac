//! Tokens that are estimated from recorded bytes, where no receipt was taken; measured as docs/receipts.md tells.

/// Of a program, as a model writes it.
pub fn program(bytes: u64) -> u64 {
    of(bytes, 316)
}

/// Of results and output, as a model reads them.
pub fn shown(bytes: u64) -> u64 {
    of(bytes, 262)
}

/// Of searches, both ways.
pub fn searched(bytes: u64) -> u64 {
    of(bytes, 380)
}

/// Of arguments of calls.
pub fn arguments(bytes: u64) -> u64 {
    of(bytes, 321)
}

/// Of answers as servers send them, of which a model reads the text only.
pub fn answers(bytes: u64) -> u64 {
    of(bytes, 652)
}

/// `hundred` bytes are a hundred tokens.
fn of(bytes: u64, hundred: u64) -> u64 {
    bytes.saturating_mul(100).div_ceil(hundred)
}
