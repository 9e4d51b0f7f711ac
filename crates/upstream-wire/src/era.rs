//! The two lifecycles of the Model Context Protocol.

/// Which lifecycle a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Era {
    /// Revisions 2024-11-05 to 2025-11-25: a session that begins with `initialize`.
    Legacy,
    /// Revision 2026-07-28: stateless, with `server/discover`.
    Modern,
}

impl Era {
    /// The word in settings.
    pub fn name(self) -> &'static str {
        match self {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        }
    }
}
