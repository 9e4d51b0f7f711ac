//! Plans and writes our files in a directory that may also hold foreign files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::confined_directory::{ConfinedDirectory, EntryKind};

/// Bytes at a file's start that show whether the file is ours.
const MARKED: u64 = 256;

/// The changes to make; correct files are omitted.
pub(super) struct Plan<'a> {
    directory: &'a Path,
    /// Files to write, with their text.
    pub(super) changed: Vec<(&'a str, &'a str)>,
    /// Our files that are no longer wanted.
    pub(super) old: Vec<String>,
    /// Foreign files in place of ours, or anything foreign in place of a directory.
    pub(super) foreign: Vec<PathBuf>,
    /// Files that exist already or are written now.
    pub(super) ours: usize,
}

// === impl Plan ===

impl<'a> Plan<'a> {
    /// Plans these files. Any other file of ours below `directories` is outdated.
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

    /// Paths of directories blocked by something else; the outermost become foreign.
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
                // One byte more, to detect a longer file.
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

    /// Executes the plan; foreign files stay.
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

/// The path's parent directories, outermost first.
fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}
