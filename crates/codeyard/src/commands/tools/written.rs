//! Files of ours in a directory that others may write to as well: what is to be done, then doing it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::confined_directory::{ConfinedDirectory, EntryKind};

/// Bytes of a file that show whether it is ours.
const MARKED: u64 = 256;

/// What is to be done. What is there and as it should be is not in it.
pub(super) struct Plan<'a> {
    directory: &'a Path,
    /// Files to write, with their text.
    pub(super) changed: Vec<(&'a str, &'a str)>,
    /// Files of ours that are not wanted any more.
    pub(super) old: Vec<String>,
    /// What stands where ours would be and is not ours: files, or whatever stands where a directory would be.
    pub(super) foreign: Vec<PathBuf>,
    /// Files that were there before or are written now.
    pub(super) ours: usize,
}

// === impl Plan ===

impl<'a> Plan<'a> {
    /// Brings a directory to these files. Whatever else of ours is in `directories`, below it, is old.
    pub(super) fn of(
        directory: &'a Path,
        files: &'a BTreeMap<String, String>,
        directories: &[String],
        is_ours: &dyn Fn(&[u8]) -> bool,
    ) -> anyhow::Result<Plan<'a>> {
        let mut plan = Plan {
            directory,
            changed: Vec::new(),
            old: Vec::new(),
            foreign: Vec::new(),
            ours: 0,
        };
        let confined = ConfinedDirectory::of(directory)
            .with_context(|| format!("cannot open {}", directory.display()))?;
        let Some(confined) = confined else {
            plan.changed = files
                .iter()
                .map(|(name, text)| (name.as_str(), text.as_str()))
                .collect();
            plan.ours = files.len();
            return Ok(plan);
        };
        let barred = plan.barred(&confined, files)?;
        for (name, text) in files {
            if !parents(name).any(|parent| barred.contains(parent)) {
                plan.add(&confined, name, text, is_ours)?;
            }
        }
        for name in directories {
            plan.add_old(&confined, name, files, is_ours)?;
        }
        Ok(plan)
    }

    /// The paths of directories at which something else stands; of these the outermost are foreign.
    fn barred(
        &mut self,
        confined: &ConfinedDirectory,
        files: &'a BTreeMap<String, String>,
    ) -> anyhow::Result<BTreeSet<&'a str>> {
        let mut barred = BTreeSet::new();
        let all: BTreeSet<&str> = files.keys().flat_map(|name| parents(name)).collect();
        for name in all {
            if parents(name).any(|parent| barred.contains(parent)) {
                barred.insert(name);
                continue;
            }
            match self.kind(confined, name)? {
                EntryKind::Absent | EntryKind::Directory => {}
                EntryKind::File | EntryKind::Other => {
                    barred.insert(name);
                    self.foreign.push(self.directory.join(name));
                }
            }
        }
        Ok(barred)
    }

    fn add(
        &mut self,
        confined: &ConfinedDirectory,
        name: &'a str,
        text: &'a str,
        is_ours: &dyn Fn(&[u8]) -> bool,
    ) -> anyhow::Result<()> {
        let (is_free, is_same) = match self.kind(confined, name)? {
            EntryKind::Absent => (true, false),
            EntryKind::File => {
                // One byte more than is wanted shows that it is longer.
                let before = self.read(confined, name, text.len() as u64 + 1)?;
                (is_ours(&before), before == text.as_bytes())
            }
            EntryKind::Directory | EntryKind::Other => (false, false),
        };
        if !is_free {
            self.foreign.push(self.directory.join(name));
            return Ok(());
        }
        if !is_same {
            self.changed.push((name, text));
        }
        self.ours += 1;
        Ok(())
    }

    fn add_old(
        &mut self,
        confined: &ConfinedDirectory,
        name: &str,
        files: &BTreeMap<String, String>,
        is_ours: &dyn Fn(&[u8]) -> bool,
    ) -> anyhow::Result<()> {
        if self.kind(confined, name)? != EntryKind::Directory {
            return Ok(());
        }
        let path = self.directory.join(name);
        let listed = confined
            .files(name)
            .with_context(|| format!("cannot list {}", path.display()))?;
        for path in listed {
            if !files.contains_key(&path) && is_ours(&self.read(confined, &path, MARKED)?) {
                self.old.push(path);
            }
        }
        Ok(())
    }

    fn kind(&self, confined: &ConfinedDirectory, name: &str) -> anyhow::Result<EntryKind> {
        let kind = confined.kind(name);
        kind.with_context(|| format!("cannot look at {}", self.directory.join(name).display()))
    }

    fn read(&self, confined: &ConfinedDirectory, name: &str, most: u64) -> anyhow::Result<Vec<u8>> {
        let read = confined.read(name, most);
        read.with_context(|| format!("cannot read {}", self.directory.join(name).display()))
    }

    /// Does it; what is not ours is left alone.
    pub(super) fn carry_out(&self) -> anyhow::Result<()> {
        if self.changed.is_empty() && self.old.is_empty() {
            return Ok(());
        }
        let directory = self.directory;
        let confined = ConfinedDirectory::open_or_create(directory)
            .with_context(|| format!("cannot make {}", directory.display()))?;
        for (name, text) in &self.changed {
            let path = directory.join(name);
            confined
                .write(name, text)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        for name in &self.old {
            let path = directory.join(name);
            confined
                .remove(name)
                .with_context(|| format!("cannot remove {}", path.display()))?;
        }
        Ok(())
    }
}

/// The directories that lead to the path, the outermost first.
fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}
