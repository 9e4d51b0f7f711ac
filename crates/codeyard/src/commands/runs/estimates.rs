//! Tokens that are estimated from recorded bytes, where no receipt was taken; measured by the test of receipts over real servers.

/// Of a program, as a model writes it.
pub fn program(bytes: u64) -> u64 {
    of(bytes, 303)
}

/// Of results and output, as a model reads them.
pub fn shown(bytes: u64) -> u64 {
    of(bytes, 293)
}

/// Of searches, both ways.
pub fn searched(bytes: u64) -> u64 {
    of(bytes, 430)
}

/// Of arguments of calls.
pub fn arguments(bytes: u64) -> u64 {
    of(bytes, 315)
}

/// Of answers as servers send them, of which a model reads the text only.
pub fn answers(bytes: u64) -> u64 {
    of(bytes, 651)
}

/// `hundred` bytes are a hundred tokens.
fn of(bytes: u64, hundred: u64) -> u64 {
    bytes.saturating_mul(100).div_ceil(hundred)
}
