//! The search paths of the surface `bridge`, in order of precedence.

use std::io;
use std::path::{Path, PathBuf};

use environment::{Environment, absolute};

use super::BridgeSources;
use crate::file_version::FileVersion;

/// A file or directory that may hold definitions.
#[derive(Debug)]
pub(super) struct SearchPath {
    pub(super) location: Location,
    /// A missing file causes a warning.
    pub(super) is_required: bool,
    /// The files hold only servers, so a file without a list causes a warning.
    pub(super) holds_only_servers: bool,
    /// The JSON may have comments.
    pub(super) has_comments: bool,
}

#[derive(Debug)]
pub(super) enum Location {
    File(PathBuf),
    /// All files directly inside with these extensions, by name.
    Directory {
        path: PathBuf,
        kinds: &'static [&'static str],
    },
}

/// Directory below the home directory that is always searched.
const MCPS: &str = "MCPs";

pub(super) fn search_paths(sources: &BridgeSources, env: &dyn Environment) -> Vec<SearchPath> {
    let required = sources.files.iter().map(|file| SearchPath {
        is_required: true,
        holds_only_servers: true,
        ..SearchPath::file(absolute(file, env))
    });
    let mut search_paths: Vec<SearchPath> = required.collect();
    let home = env.var("HOME").ok().flatten().map(PathBuf::from);
    let home = home.filter(|home| home.is_absolute());
    if let Some(home) = &home {
        search_paths.push(SearchPath::directory(home.join(MCPS), &["json"]));
    }
    if sources.other_clients {
        search_paths.extend(of_other_clients(home.as_deref(), env));
    }
    search_paths
}

fn of_other_clients(home: Option<&Path>, env: &dyn Environment) -> Vec<SearchPath> {
    const BOTH: &[&str] = &["json", "toml"];
    let here = |path: &str| absolute(path.as_ref(), env);
    let at_home = |path: &str| home.map(|home| home.join(path));
    let commented = |file: PathBuf| SearchPath {
        has_comments: true,
        ..SearchPath::file(file)
    };
    let directory = |path: PathBuf| SearchPath::directory(path, BOTH);
    [
        at_home(".config/mcp/servers").map(directory),
        Some(directory(here("mcp-servers"))),
        Some(commented(here(".vscode/mcp.json"))),
        at_home(".claude.json").map(SearchPath::file),
        at_home(".cursor/mcp.json").map(SearchPath::file),
        at_home(".opencode.json").map(commented),
        at_home(".codeium/windsurf/mcp_config.json").map(SearchPath::file),
        at_home(".config/Code/User/mcp.json").map(commented),
        at_home(".config/Code/User/settings.json").map(commented),
        at_home(".config/Claude/claude_desktop_config.json").map(SearchPath::file),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A directory's files, sorted by name; none if the directory is missing.
pub(super) fn list(directory: &Path, kinds: &[&str]) -> io::Result<Vec<(PathBuf, FileVersion)>> {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        let kind = path.extension().and_then(|extension| extension.to_str());
        if kind.is_some_and(|kind| kinds.contains(&kind)) {
            files.push((path, FileVersion::of_entry(&entry)));
        }
    }
    files.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    Ok(files)
}

impl SearchPath {
    /// A file that may be missing.
    fn file(path: PathBuf) -> SearchPath {
        SearchPath {
            location: Location::File(path),
            is_required: false,
            holds_only_servers: false,
            has_comments: false,
        }
    }

    /// A directory of definitions that may be missing.
    fn directory(path: PathBuf, kinds: &'static [&'static str]) -> SearchPath {
        SearchPath {
            location: Location::Directory { path, kinds },
            is_required: false,
            holds_only_servers: true,
            has_comments: false,
        }
    }
}
