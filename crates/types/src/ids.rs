//! Identifiers, opaque to everyone except the part that makes them.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! string_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps an identifier that its owner made or validated.
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            /// As text.
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
    /// The handle of one session, made by the host; each new session of the same name has a new
    /// id.
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
    /// An organization; its users, files and records are separated from all others.
    TenantId
);
string_id!(
    /// Unique within its tenant.
    UserId
);
string_id!(
    /// A virtual server of the gateway.
    ServerId
);
string_id!(
    /// A team of users, within its tenant.
    TeamId
);
