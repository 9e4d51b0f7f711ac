//! Records changes of clients' files by `codeyard install`, for the undo.

use std::path::{Path, PathBuf};

use consent::digest;
use environment::{ChangeLock, Environment, StateError, StateFile};
use serde::{Deserialize, Serialize};
use serde_json::Value;

const INSTALLED: StateFile = StateFile {
    name: "installed.json",
    what: "changed clients",
    remedy: "remove it; then undo installations by hand from the backups",
};

/// One change of a client's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Installation {
    /// A copy of the earlier file; `None` if there was no file.
    pub(crate) backup: Option<PathBuf>,
    /// Hash of the backup; absent in lists older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    original: Option<String>,
    /// Hash of the written content.
    written: String,
    /// The entry as written.
    pub(crate) entry: Value,
    /// The replaced servers, each by its path of keys.
    pub(crate) taken: Vec<Vec<String>>,
}

impl Installation {
    /// The change of a file from `before`, which the backup holds, to `written`.
    pub(crate) fn new(
        backup: Option<PathBuf>,
        before: &[u8],
        written: &[u8],
        entry: Value,
        taken: Vec<Vec<String>>,
    ) -> Installation {
        Installation {
            original: backup.is_some().then(|| digest(before)),
            backup,
            written: digest(written),
            entry,
            taken,
        }
    }

    /// Whether these bytes are the original content; true if no hash was recorded.
    pub(crate) fn replaced(&self, bytes: &[u8]) -> bool {
        self.original
            .as_ref()
            .is_none_or(|original| *original == digest(bytes))
    }

    pub(crate) fn wrote(&self, bytes: &[u8]) -> bool {
        self.written == digest(bytes)
    }
}

/// The installations in a file, the latest last.
///
/// # Errors
/// If the list is damaged.
pub(crate) fn installations(
    file: &Path,
    data: &Path,
    env: &dyn Environment,
) -> Result<Vec<Installation>, StateError> {
    let mut all = INSTALLED.load::<Vec<Installation>>(data, env)?;
    Ok(all.remove(file).unwrap_or_default())
}

/// Replaces the installations in a file.
///
/// # Errors
/// If the list is damaged or cannot be written.
pub(crate) fn store_installations(
    file: &Path,
    of_file: &[Installation],
    lock: &ChangeLock<'_>,
) -> Result<(), StateError> {
    INSTALLED.change::<Vec<Installation>>(lock, |files| {
        if of_file.is_empty() {
            files.remove(file);
        } else {
            files.insert(file.to_path_buf(), of_file.to_vec());
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_support::FakeEnvironment;

    #[test]
    fn a_list_without_hashes_is_read() {
        let list = r#"{"version": 1, "files": {"/c": [{"backup": "/c.before-codeyard", "written": "00", "entry": {}, "taken": []}]}}"#;
        let env = FakeEnvironment::new().file("/data/installed.json", list);
        let all = installations(Path::new("/c"), Path::new("/data"), &env).unwrap();
        assert!(all[0].replaced(b"whatever it was"));
        let new = Installation::new(
            Some("/c.before-codeyard".into()),
            b"one",
            b"two",
            Value::Null,
            vec![],
        );
        assert!(new.replaced(b"one") && !new.replaced(b""));
    }
}
