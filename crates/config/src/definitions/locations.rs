//! Where definitions are looked for, in the order in which they count.

use std::io;
use std::path::{Path, PathBuf};

use super::stamp::Stamp;
use crate::bridge::Bridge;
use crate::host::Host;
use crate::load::Sources;
use crate::places::absolute;

/// One place.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) location: Location,
    /// Whether somebody named it: then it must be there.
    pub(super) is_named: bool,
    /// Whether its files hold servers and nothing else: one without a list is told.
    pub(super) is_dedicated: bool,
    /// Whether its JSON may hold comments.
    pub(super) has_comments: bool,
}

#[derive(Debug)]
pub(super) enum Location {
    File(PathBuf),
    /// All files directly in it whose names end so, in the order of their names.
    Directory {
        path: PathBuf,
        kinds: &'static [&'static str],
    },
}

/// The directory that is always looked at, below the home directory.
const MCPS: &str = "MCPs";

/// All places of this machine.
pub(super) fn places(bridge: &Bridge, sources: &Sources, host: &dyn Host) -> Vec<Place> {
    let named = sources
        .servers
        .iter()
        .map(|file| absolute(file, host))
        .chain(bridge.servers_config.clone());
    let named = named.map(|file| Place {
        is_named: true,
        is_dedicated: true,
        ..Place::file(file)
    });
    let mut places: Vec<Place> = named.collect();
    let home = host.var("HOME").ok().flatten().map(PathBuf::from);
    let home = home.filter(|home| home.is_absolute());
    if let Some(home) = &home {
        places.push(Place::directory(home.join(MCPS), &["json"]));
    }
    if bridge.extra_config {
        places.extend(of_other_clients(home.as_deref(), host));
    }
    places
}

/// The files that other clients have their servers in.
fn of_other_clients(home: Option<&Path>, host: &dyn Host) -> Vec<Place> {
    const BOTH: &[&str] = &["json", "toml"];
    let here = |path: &str| absolute(path.as_ref(), host);
    let at_home = |path: &str| home.map(|home| home.join(path));
    let commented = |file: PathBuf| Place {
        has_comments: true,
        ..Place::file(file)
    };
    let directory = |path: PathBuf| Place::directory(path, BOTH);
    [
        at_home(".config/mcp/servers").map(directory),
        Some(directory(here("mcp-servers"))),
        Some(commented(here(".vscode/mcp.json"))),
        at_home(".claude.json").map(Place::file),
        at_home(".cursor/mcp.json").map(Place::file),
        at_home(".opencode.json").map(commented),
        at_home(".codeium/windsurf/mcp_config.json").map(Place::file),
        at_home(".config/Code/User/mcp.json").map(commented),
        at_home(".config/Code/User/settings.json").map(commented),
        at_home(".config/Claude/claude_desktop_config.json").map(Place::file),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The files of a directory, in the order of their names; none if it is not there.
pub(super) fn list(directory: &Path, kinds: &[&str]) -> io::Result<Vec<(PathBuf, Stamp)>> {
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
            files.push((path, Stamp::of_entry(&entry)));
        }
    }
    files.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    Ok(files)
}

impl Place {
    /// A file that need not be there.
    fn file(path: PathBuf) -> Place {
        Place {
            location: Location::File(path),
            is_named: false,
            is_dedicated: false,
            has_comments: false,
        }
    }

    /// A directory of definitions that need not be there.
    fn directory(path: PathBuf, kinds: &'static [&'static str]) -> Place {
        Place {
            location: Location::Directory { path, kinds },
            is_named: false,
            is_dedicated: true,
            has_comments: false,
        }
    }
}
