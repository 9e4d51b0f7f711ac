//! The bounds of a search for tools, the same for clients, programs and the command line.

/// In bytes.
pub const MAX_QUERY: usize = 4096;

/// Tools in one result.
pub const MAX_FOUND: u16 = 50;

/// Tools that a client's or program's search returns by default.
pub const USUALLY_FOUND: u16 = 5;
