//! The checkers of Python, TypeScript and token counts that `cargo xtask test` installs.

use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::programs::target_directory;

/// The directory with `python/bin/mypy`, `node_modules/.bin/tsc` and `node_modules/js-tiktoken`:
/// `CODEYARD_CHECKERS`, else a directory below `target`.
pub fn checkers() -> Result<PathBuf> {
    let directory = match std::env::var_os("CODEYARD_CHECKERS") {
        Some(path) => path.into(),
        None => target_directory().join("checkers"),
    };
    ensure!(
        directory.join(".installed").is_file(),
        "no mypy, no TypeScript and no js-tiktoken in {}: run `cargo xtask test` once, which installs them",
        directory.display()
    );
    Ok(directory)
}
