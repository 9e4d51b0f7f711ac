//! Where servers are defined: the files that count, and what they hold.

use std::io;
use std::path::{Path, PathBuf};

use crate::host::Host;
use crate::load::Sources;
use crate::mistakes::Findings;
use crate::places::{absolute, config_dir, resolved};
use crate::secrets::Secrets;
use crate::trust::{self, PROJECT_FILE, Standing};

/// Where servers may be defined; the file need not be there.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) origin: Origin,
}

impl Place {
    /// What the file holds. Whoever names a file answers for who may change it, as one that a container is given; what a
    /// project's file starts is bound by trust to its content.
    pub(crate) fn read(&self, host: &dyn Host) -> io::Result<Vec<u8>> {
        match self.origin {
            Origin::User => host.read_own(&self.path),
            Origin::Named | Origin::Project => host.read(&self.path),
        }
    }
}

/// Why a file counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// An option names it.
    Named,
    /// It is the user's own.
    User,
    /// It is in the directory that codeyard was started in, and needs a person's trust.
    Project,
}

impl Origin {
    /// The variables of definitions from there. Secrets are for files that their owner wrote or named: a project's was written
    /// by somebody else, and whoever trusts it reads what it runs, not whose secret a name is.
    pub(crate) fn variables<'s>(self, secrets: &Secrets<'s>) -> Secrets<'s> {
        match self {
            Origin::Named | Origin::User => secrets.clone(),
            Origin::Project => secrets.withheld(),
        }
    }
}

/// A file of servers as it is.
pub(crate) struct ServerBytes {
    /// Without links.
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
    pub(crate) origin: Origin,
    /// Whether its servers may be used: a project's file needs a person's trust.
    pub(crate) is_trusted: bool,
}

/// The files that can be read, in the order in which they count.
pub(crate) fn server_files(sources: &Sources, data: &Path, host: &dyn Host) -> Vec<ServerBytes> {
    let mut ignored = Findings::of(None);
    let places = possible_files(sources, host).into_iter();
    places
        .filter_map(|place| {
            let bytes = place.read(host).ok()?;
            let path = resolved(&place.path, host);
            let is_trusted = place.origin != Origin::Project
                || trust::standing(&path, &bytes, data, host, &mut ignored) == Standing::Trusted;
            Some(ServerBytes {
                path,
                bytes,
                origin: place.origin,
                is_trusted,
            })
        })
        .collect()
}

/// Where servers may be defined, in the order in which it counts.
pub(crate) fn possible_files(sources: &Sources, host: &dyn Host) -> Vec<Place> {
    let place = |path: &Path, origin: Origin| Place {
        path: absolute(path, host),
        origin,
    };
    if !sources.servers.is_empty() {
        let named = sources.servers.iter();
        return named.map(|file| place(file, Origin::Named)).collect();
    }
    let user = config_dir(host).map(|directory| place(&directory.join("mcp.json"), Origin::User));
    let project = place(Path::new(PROJECT_FILE), Origin::Project);
    user.into_iter().chain([project]).collect()
}
