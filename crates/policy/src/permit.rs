//! Proofs of decisions: an admission of one tool, and a permit for one tool with exact arguments.

use std::io;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use types::ToolRef;

/// Proves that a principal may know a tool and call it with some arguments. Only [`crate::Policy::admit`]
/// creates an admission.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "an admission is the way to a permit"]
pub struct Admission {
    tool: ToolRef,
}

/// Proves that a principal may call this tool with these arguments. Only [`crate::Policy::authorize`] creates a
/// permit.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a permit stands for one call"]
pub struct Permit {
    tool: ToolRef,
    /// SHA-256 of the arguments as JSON.
    arguments: [u8; 32],
}

impl Admission {
    /// Only the policy may call this.
    pub(crate) fn of(tool: &ToolRef) -> Admission {
        Admission { tool: tool.clone() }
    }

    /// The admitted tool.
    pub fn tool(&self) -> &ToolRef {
        &self.tool
    }

    /// Only the policy may call this.
    pub(crate) fn with(self, arguments: &Map<String, Value>) -> Permit {
        Permit {
            tool: self.tool,
            arguments: hash(arguments),
        }
    }
}

impl Permit {
    /// The tool that may be called.
    pub fn tool(&self) -> &ToolRef {
        &self.tool
    }

    /// Whether the permit is for these arguments.
    pub fn covers(&self, arguments: &Map<String, Value>) -> bool {
        self.arguments == hash(arguments)
    }

    /// Consumes the permit.
    pub fn into_tool(self) -> ToolRef {
        self.tool
    }
}

fn hash(arguments: &Map<String, Value>) -> [u8; 32] {
    struct Hashing(Sha256);
    impl io::Write for Hashing {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.update(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut hashing = Hashing(Sha256::new());
    // A map of JSON values always serializes, and hashing never fails.
    let _ = serde_json::to_writer(&mut hashing, arguments);
    hashing.0.finalize().into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_permit_covers_only_its_arguments() {
        let arguments = |value: Value| value.as_object().expect("an object").clone();
        let permit = Admission::of(&ToolRef::new("crm", "find")).with(&arguments(json!({"id": 1})));
        assert!(permit.covers(&arguments(json!({"id": 1}))));
        for other in [
            json!({}),
            json!({"id": 2}),
            json!({"id": "1"}),
            json!({"id": 1, "all": true}),
        ] {
            assert!(!permit.covers(&arguments(other.clone())), "{other}");
        }
    }
}
