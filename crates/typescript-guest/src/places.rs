//! Paths of a session.

/// The directory of programs, and where their relative paths begin.
pub const WORKSPACE: &str = "/workspace";
/// Output too long to be shown.
pub const RESULTS: &str = "/results";
