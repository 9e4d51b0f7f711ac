//! All upstream servers at one moment.

use types::UpstreamServer;

/// Maximum number of servers of all tenants; every process holds all of them.
pub const MOST_SERVERS: i64 = 1000;

/// All servers at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpstreamServerList {
    /// The number of changes so far.
    pub changes: i64,
    /// Sorted by time of creation, then by name.
    pub servers: Vec<UpstreamServer>,
}
