//! The SHA-256 of a text, in hexadecimal.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// SHA-256 in lower-case hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}
