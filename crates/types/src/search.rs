//! What a search for tools may be asked, the same for clients, programs and the command line.

/// Longest query, in bytes.
pub const MAX_QUERY: usize = 4096;

/// Most tools that one search returns.
pub const MAX_FOUND: u16 = 50;

/// Tools that a search by a client or a program returns unless asked otherwise.
pub const USUALLY_FOUND: u16 = 5;
