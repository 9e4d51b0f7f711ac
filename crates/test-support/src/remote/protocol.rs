//! The protocol versions of a remote server, and the requests that it receives.

use serde_json::Value;

use crate::servers::Era;

/// How a remote server communicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Streamable HTTP, 2026-07-28.
    Modern,
    /// Streamable HTTP, 2025-11-25: sessions, and a stream for unsolicited messages.
    Legacy,
    /// HTTP with SSE, 2024-11-05.
    Sse,
}

impl Way {
    pub(super) fn era(self) -> Era {
        match self {
            Way::Modern => Era::Modern,
            Way::Legacy => Era::Legacy,
            Way::Sse => Era::Old,
        }
    }
}

/// A request that a server has received.
#[derive(Debug, Clone)]
pub struct Seen {
    /// `POST`, `GET` or `DELETE`.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// The names are in lower case.
    pub headers: Vec<(String, String)>,
    /// The JSON body; `null` without one.
    pub message: Value,
}

impl Seen {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }
}
