//! `[tools]`: the directories of tool files.

use std::path::{Path, PathBuf};

use super::table::{Value, unknown};

/// `[tools]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tools {
    /// Each is, or contains, a directory `servers`. Directories of `--tools` come last.
    pub directories: Vec<PathBuf>,
}

pub(super) fn set(tools: &mut Tools, key: &str, value: &Value<'_>, directory: &Path) -> Result<(), String> {
    match key {
        "directories" => {
            let written = value.strings()?.into_iter();
            tools.directories = written.map(|path| directory.join(path)).collect();
        }
        _ => return Err(unknown("key", key, ["directories"])),
    }
    Ok(())
}
