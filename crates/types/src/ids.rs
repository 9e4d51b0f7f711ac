//! Identifiers: opaque to everyone but the part that mints them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who asks: every handle (session, workspace, record) belongs to exactly one principal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Principal {
    /// Stable identifier, unique within the deployment.
    pub id: String,
}

impl Principal {
    /// The one principal of a `codeyard` process that a user started for themselves (stdio, CLI).
    pub fn local() -> Self {
        Self {
            id: "local".to_owned(),
        }
    }
}

macro_rules! string_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps an identifier that was minted or validated by its owner.
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            /// The identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

string_id!(
    /// The handle of one session, minted by the host; a new life of the same name has a new id.
    SessionId
);
string_id!(
    /// The name by which a client opens or continues a session.
    SessionName
);
string_id!(
    /// The handle of one run.
    RunId
);
