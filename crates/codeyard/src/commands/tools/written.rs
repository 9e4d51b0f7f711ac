//! Files of ours in a directory that others may write to as well: what is to be done, then doing it.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// What is to be done. What is there and as it should be is not in it.
pub(super) struct Plan {
    /// Files to write, with their text.
    pub(super) changed: Vec<(PathBuf, String)>,
    /// Files of ours that are not wanted any more.
    pub(super) old: Vec<PathBuf>,
    /// Files that stand where ours would be and are not ours.
    pub(super) foreign: Vec<PathBuf>,
}

// === impl Plan ===

impl Plan {
    /// Brings a directory to these files. Whatever else of ours is in `directories`, below it, is old.
    pub(super) fn of(
        directory: &Path,
        files: &BTreeMap<String, String>,
        directories: &[String],
        is_ours: &dyn Fn(&[u8]) -> bool,
    ) -> anyhow::Result<Plan> {
        let mut plan = Plan {
            changed: Vec::new(),
            old: Vec::new(),
            foreign: Vec::new(),
        };
        for (name, text) in files {
            let path = directory.join(name);
            match present(&path)? {
                Some(before) if before == text.as_bytes() => {}
                Some(before) if !is_ours(&before) || path.is_symlink() => plan.foreign.push(path),
                None if path.is_symlink() => plan.foreign.push(path),
                _ => plan.changed.push((path, text.clone())),
            }
        }
        for name in directories {
            plan.add_old(directory, name, files, is_ours)?;
        }
        Ok(plan)
    }

    fn add_old(
        &mut self,
        directory: &Path,
        name: &str,
        files: &BTreeMap<String, String>,
        is_ours: &dyn Fn(&[u8]) -> bool,
    ) -> anyhow::Result<()> {
        let Ok(entries) = fs::read_dir(directory.join(name)) else {
            return Ok(());
        };
        for entry in entries {
            let path = entry.with_context(|| format!("cannot list {name}"))?.path();
            let known = format!(
                "{name}/{}",
                path.file_name().unwrap_or_default().to_string_lossy()
            );
            if files.contains_key(&known) || !path.is_file() {
                continue;
            }
            if is_ours(&present(&path)?.unwrap_or_default()) {
                self.old.push(path);
            }
        }
        Ok(())
    }

    /// Does it; what is not ours is left alone.
    pub(super) fn carry_out(&self) -> anyhow::Result<()> {
        for (path, text) in &self.changed {
            let parent = path.parent().unwrap_or(Path::new("."));
            fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
            fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        for path in &self.old {
            fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))?;
            // Only an empty directory goes with its last file.
            let _ = path.parent().map(fs::remove_dir);
        }
        Ok(())
    }
}

fn present(path: &Path) -> anyhow::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}
