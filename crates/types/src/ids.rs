//! Identifiers: opaque to everyone but the part that mints them.

use std::fmt;

use serde::{Deserialize, Serialize};

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
string_id!(
    /// An organization whose users, files and records are kept apart from those of every other.
    TenantId
);
string_id!(
    /// A user within its tenant.
    UserId
);
