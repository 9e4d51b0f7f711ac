//! The files that define servers, in order of precedence, with their content.

use std::io;
use std::path::{Path, PathBuf};

use consent::{TrustState, trust_state};
use environment::{Diagnostics, Environment, absolute, config_dir, data_dir, without_links};

use crate::review::PROJECT_FILE;
use crate::secrets::Secrets;

/// The command line's options for definitions.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// `--config`, in order; empty for the default files.
    pub files: Vec<PathBuf>,
    /// `--data`.
    pub data: Option<PathBuf>,
}

/// A file, perhaps missing, that may define servers.
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(crate) path: PathBuf,
    pub(crate) origin: Origin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A file of `--config`.
    Option,
    /// The user's `mcp.json`.
    User,
    /// `.mcp.json` of the current directory. A person must trust its content first.
    Project,
}

pub(crate) struct SourceContent {
    /// Path with links resolved.
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
    pub(crate) origin: Origin,
    /// False for an untrusted project file.
    pub(crate) is_trusted: bool,
}

// === impl Sources ===

impl Sources {
    /// The data directory; `None` if `--data`, `XDG_DATA_HOME` and `HOME` are all missing.
    pub fn data_directory(&self, env: &dyn Environment) -> Option<PathBuf> {
        match &self.data {
            Some(data) => Some(absolute(data, env)),
            None => data_dir(env),
        }
    }

    /// Files that may define servers, in order of precedence.
    pub(crate) fn files(&self, env: &dyn Environment) -> Vec<SourceFile> {
        let file = |path: &Path, origin: Origin| SourceFile {
            path: absolute(path, env),
            origin,
        };
        if !self.files.is_empty() {
            let files = self.files.iter();
            return files.map(|path| file(path, Origin::Option)).collect();
        }
        let user = config_dir(env).map(|directory| file(&directory.join("mcp.json"), Origin::User));
        let project = file(Path::new(PROJECT_FILE), Origin::Project);
        user.into_iter().chain([project]).collect()
    }

    /// All readable files, in order of precedence.
    pub(crate) fn read(&self, data: &Path, env: &dyn Environment) -> Vec<SourceContent> {
        let mut ignored = Diagnostics::of(None);
        let files = self.files(env).into_iter();
        files
            .filter_map(|file| {
                let bytes = file.read(env).ok()?;
                let path = without_links(&file.path, env);
                let is_trusted = file.origin != Origin::Project
                    || trust_state(&path, &bytes, data, env, &mut ignored) == TrustState::Trusted;
                Some(SourceContent {
                    path,
                    bytes,
                    origin: file.origin,
                    is_trusted,
                })
            })
            .collect()
    }
}

/// Paths that may define servers, in order of precedence.
pub fn definition_paths(sources: &Sources, env: &dyn Environment) -> Vec<PathBuf> {
    let files = sources.files(env).into_iter();
    files.map(|file| file.path).collect()
}

// === impl SourceFile ===

impl SourceFile {
    /// The content. Only the user's `mcp.json` must be protected against other users' changes: the user chose the files
    /// of `--config`, and trust covers one content of a project file.
    pub(crate) fn read(&self, env: &dyn Environment) -> io::Result<Vec<u8>> {
        match self.origin {
            Origin::User => env.read_protected(&self.path),
            Origin::Option | Origin::Project => env.read(&self.path),
        }
    }
}

// === impl Origin ===

impl Origin {
    /// The variables for definitions of this origin. A project file receives no stored secrets: a person who trusts the
    /// file checks its commands, not the secrets behind its names.
    pub(crate) fn variables<'s>(self, secrets: &Secrets<'s>) -> Secrets<'s> {
        match self {
            Origin::Option | Origin::User => secrets.clone(),
            Origin::Project => secrets.withheld(),
        }
    }
}
