//! Where servers are defined: the files that count, and what they hold.

use std::path::{Path, PathBuf};

use crate::host::Host;
use crate::load::Sources;
use crate::mistakes::Findings;
use crate::places::{absolute, config_dir};
use crate::trust::{self, PROJECT_FILE, Standing};

/// A file of servers as it is.
pub(crate) struct ServerBytes {
    /// Without links.
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
    /// Whether its servers may be used: a project's file needs a person's trust.
    pub(crate) is_trusted: bool,
}

/// The files that can be read, in the order in which they count.
pub(crate) fn server_files(sources: &Sources, data: &Path, host: &dyn Host) -> Vec<ServerBytes> {
    let mut ignored = Findings::of(None);
    let project = absolute(Path::new(PROJECT_FILE), host);
    let files = possible_files(sources, host).into_iter();
    files
        .filter_map(|file| {
            let bytes = host.read(&file).ok()?;
            let path = host.canonical(&file).unwrap_or_else(|_| file.clone());
            let is_trusted = file != project
                || !sources.servers.is_empty()
                || trust::standing(&path, &bytes, data, host, &mut ignored) == Standing::Trusted;
            Some(ServerBytes {
                path,
                bytes,
                is_trusted,
            })
        })
        .collect()
}

/// Where servers are defined, in the order in which it counts; the files need not be there.
pub(crate) fn possible_files(sources: &Sources, host: &dyn Host) -> Vec<PathBuf> {
    if !sources.servers.is_empty() {
        return sources.servers.iter().map(|file| absolute(file, host)).collect();
    }
    let user = config_dir(host).map(|directory| directory.join("mcp.json"));
    let project = absolute(Path::new(PROJECT_FILE), host);
    user.into_iter().chain([project]).collect()
}
