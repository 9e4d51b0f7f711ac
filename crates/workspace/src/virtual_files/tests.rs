//! Virtual files: exact answers.
//!
//! Whatever programs plant, no file outside is listed, read or written.

mod answers;
mod hostile;

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::*;
use crate::WorkspaceConfig;

const SECRET: &str = "what lies outside";

/// A session's files, beside a file that must stay unreachable.
struct Yard {
    home: tempfile::TempDir,
    workspaces: Workspaces,
    files: VirtualFiles,
}

impl Yard {
    fn new() -> Yard {
        Yard::with(FilePolicy::default(), FileLimits::default(), |_| {})
    }

    fn with(policy: FilePolicy, limits: FileLimits, change: impl FnOnce(&mut WorkspaceConfig)) -> Yard {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("secret"), SECRET).unwrap();
        let mut config = WorkspaceConfig::below(&home.path().join("data"));
        change(&mut config);
        let workspaces = Workspaces::new(config);
        let tree = [
            ("tools/_schema.json", "{}"),
            ("tools/stub/add.py", "async def add(): ..."),
            ("tools/.search_index", ""),
        ];
        let tree: BTreeMap<_, _> = tree
            .into_iter()
            .map(|(name, text)| {
                (
                    name.to_owned(),
                    types::TreeFile::new([0; 32], move || text.into()),
                )
            })
            .collect();
        workspaces.publish(&ann(), &tree).unwrap();
        let files = workspaces
            .virtual_files(&ann(), &SessionName::new("a"), policy, limits)
            .unwrap();
        Yard {
            home,
            workspaces,
            files,
        }
    }

    fn secret(&self) -> PathBuf {
        self.home.path().join("secret")
    }

    fn own(&self) -> PathBuf {
        self.home.path().join("data/workspaces/ann/sessions/a")
    }

    fn scratch(&self) -> PathBuf {
        self.own().join("scratch")
    }

    /// The content, or the message.
    fn read(&self, path: &str) -> String {
        match self.files.read(path) {
            Ok(text) => text.content,
            Err(error) => error.to_string(),
        }
    }

    /// The size, or the message.
    fn write(&self, path: &str, content: &str) -> String {
        match self.files.write(path, Some(content)) {
            Ok(written) => written.size_bytes.to_string(),
            Err(error) => error.to_string(),
        }
    }

    /// The names, or the message.
    fn names(&self, path: &str) -> Vec<String> {
        match self.browse(path, 1_000) {
            Ok(listing) => listing.entries.into_iter().map(|entry| entry.name).collect(),
            Err(error) => vec![error.to_string()],
        }
    }

    fn browse(&self, path: &str, max_entries: usize) -> Result<DirectoryListing, FileError> {
        self.files.browse(&Browse {
            path,
            include_hidden: false,
            max_entries,
        })
    }

    /// Everything below the session's directories, by path.
    fn tree(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut waiting = vec![self.own()];
        while let Some(directory) = waiting.pop() {
            for entry in directory.read_dir().unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_dir() {
                    waiting.push(entry.path());
                }
                found.push(entry.path().strip_prefix(self.own()).unwrap().to_owned());
            }
        }
        found.sort();
        found
    }
}

fn ann() -> Principal {
    "ann".parse().expect("a principal")
}
