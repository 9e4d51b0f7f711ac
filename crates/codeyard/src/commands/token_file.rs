//! Reads the file of `--token-file`: the bearer token of clients over HTTP.

use std::path::Path;

use environment::{Environment as _, Machine, why_unreadable};
use gateway::Token;

use crate::exit::{Exit, Failure};

/// Fails if other users may read the file.
pub fn read(file: &Path) -> Result<String, Failure> {
    let wrong = |why: &str| Failure::new(Exit::Usage, format!("--token-file {}: {why}", file.display()));
    let bytes = Machine
        .read_protected(file)
        .map_err(|error| wrong(&why_unreadable(&error)))?;
    if !Machine.is_private(file) {
        return Err(wrong(
            "other users may read it; run `chmod 600` on it, and write a new token",
        ));
    }
    let text = String::from_utf8(bytes).map_err(|_| wrong("is not text"))?;
    match Token::new(&text) {
        Ok(_) => Ok(text.trim().to_owned()),
        Err(bad) => Err(wrong(&format!(
            "{bad}; `head -c 32 /dev/urandom | base64 > {}` writes one",
            file.display()
        ))),
    }
}
