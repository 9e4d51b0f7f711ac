//! The manifest of a tree: its files by name and their keys, from which the tree's name is derived.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rustix::fs::Mode;
use sha2::{Digest, Sha256};
use types::TreeFile;

use crate::error::WorkspaceError;

/// Directories of every tree, even of an empty one.
pub(super) const TOPS: [&str; 2] = ["tools", "skills"];

/// Version of the format on disk. It changes when trees of the same files look different on disk.
const FORMAT: &[u8] = b"codeyard tree 3";

pub(super) const FILE: Mode = Mode::from_raw_mode(0o444);
/// Writable for the owner, so that `rm -r` removes a data directory. Sessions see the directory through a read-only
/// mount.
pub(super) const DIRECTORY: Mode = Mode::from_raw_mode(0o755);
/// The files to publish, by name.
pub(crate) type Files<'a> = BTreeMap<String, TreeFile<'a>>;

/// The keys of a tree's files.
pub(super) type Manifest = BTreeMap<String, [u8; 32]>;

/// Every directory of a tree with these files, parents first.
pub(super) fn directories<'a>(files: impl Iterator<Item = &'a String>) -> BTreeSet<String> {
    let mut directories: BTreeSet<String> = TOPS.into_iter().map(str::to_owned).collect();
    for name in files {
        for above in Path::new(name).ancestors().skip(1).filter_map(Path::to_str) {
            if above.is_empty() || directories.contains(above) {
                break;
            }
            directories.insert(above.to_owned());
        }
    }
    directories
}

pub(super) fn check_name(name: &str) -> Result<(), WorkspaceError> {
    let mut parts = name.split('/');
    let top = parts.next().is_some_and(|top| TOPS.contains(&top));
    let mut below = 0_usize;
    let safe = parts.all(|part| {
        below += 1;
        !part.is_empty() && part != "." && part != ".." && part.len() <= 255 && !part.contains('\0')
    });
    if top && safe && below > 0 {
        Ok(())
    } else {
        Err(WorkspaceError::BadName(name.escape_debug().take(200).collect()))
    }
}

pub(super) fn keys(files: &Files<'_>) -> Manifest {
    files
        .iter()
        .map(|(name, file)| (name.clone(), file.key))
        .collect()
}

pub(super) fn hash(manifest: &Manifest) -> String {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update(bytes.len().to_le_bytes());
        hash.update(bytes);
    };
    part(FORMAT);
    for (name, key) in manifest {
        part(name.as_bytes());
        part(key);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
