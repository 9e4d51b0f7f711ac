//! Turns one tree into another: removes, links and writes what differs.

use std::collections::BTreeSet;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::SystemTime;

use chrono::{DateTime, Utc};
use rustix::fs::{self, AtFlags, Mode, OFlags};
use rustix::io::Errno;
use types::WRITTEN_AT;

use super::manifest::{DIRECTORY, FILE, Manifest, directories};
use crate::directory::CONFINED;
use crate::error::WorkspaceError;

/// A tree under construction, under a temporary name that only this process uses.
#[derive(Debug)]
pub(super) struct Unfinished {
    pub(super) name: String,
    pub(super) path: PathBuf,
    /// Exclusive.
    pub(super) lock: OwnedFd,
    /// The present files.
    pub(super) manifest: Manifest,
}

/// A tree whose files may be linked into others.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinkSource<'a> {
    pub(super) place: &'a OwnedFd,
    pub(super) manifest: &'a Manifest,
}

/// Gives a tree the files of a manifest: links from `source` if possible, otherwise content from `made`.
///
/// # Errors
/// If the file system refuses a step, or a file is in neither.
pub(super) fn change(
    tree: &Unfinished,
    wanted: &Manifest,
    source: Option<LinkSource<'_>>,
    made: &dyn Fn(&str) -> Option<Vec<u8>>,
) -> Result<(), WorkspaceError> {
    let failed = |step: &'static str, name: &str, cause: Errno| {
        WorkspaceError::step(step, &tree.path.join(name), cause)
    };
    let place = &tree.lock;
    let is_same = |name: &String, key: &[u8; 32]| tree.manifest.get(name) == Some(key);
    for (name, key) in &tree.manifest {
        if wanted.get(name) == Some(key) {
            continue;
        }
        match fs::unlinkat(place, name.as_str(), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(cause) => return Err(failed("remove the file", name, cause)),
        }
    }
    let before = match tree.manifest.is_empty() {
        true => BTreeSet::new(),
        false => directories(tree.manifest.keys()),
    };
    let after = directories(wanted.keys());
    let gone: Vec<&String> = before.difference(&after).collect();
    for gone in gone.into_iter().rev() {
        match fs::unlinkat(place, gone.as_str(), AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(cause) => return Err(failed("remove the directory", gone, cause)),
        }
    }
    for new in after.difference(&before) {
        fs::mkdirat(place, new.as_str(), DIRECTORY)
            .map_err(|cause| failed("make the directory", new, cause))?;
    }
    for (name, _) in wanted.iter().filter(|(name, key)| !is_same(name, key)) {
        if source.is_some_and(|source| links(source, wanted, name, place)) {
            continue;
        }
        let Some(content) = made(name) else {
            return Err(failed("link the file", name, Errno::MLINK));
        };
        write(place, name, &timed(content))
            .map_err(|cause| WorkspaceError::io("write the file", &tree.path.join(name), cause))?;
    }
    // Set the mode afterwards: the user's umask may reduce the mode at creation.
    for new in after.difference(&before).map(String::as_str).chain(["."]) {
        fs::chmodat(place, new, DIRECTORY, AtFlags::empty())
            .map_err(|cause| failed("set the mode of the directory", new, cause))?;
    }
    Ok(())
}

/// Links a file of another tree; false if that tree has a different file, or the file system refuses.
fn links(source: LinkSource<'_>, wanted: &Manifest, name: &str, place: &OwnedFd) -> bool {
    source.manifest.get(name) == wanted.get(name)
        && fs::linkat(source.place, name, place, name, AtFlags::empty()).is_ok()
}

fn write(directory: &OwnedFd, name: &str, content: &[u8]) -> std::io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = fs::openat2(directory, name, flags, Mode::from_raw_mode(0o600), CONFINED)?;
    let mut file = std::fs::File::from(file);
    file.write_all(content)?;
    // Set the mode afterwards: the user's umask may reduce the mode at creation.
    Ok(fs::fchmod(&file, FILE)?)
}

/// The content, with its time mark replaced by the present time.
fn timed(mut content: Vec<u8>) -> Vec<u8> {
    if let Some(at) = mark(&content) {
        content.splice(at..at + WRITTEN_AT.len(), now().into_bytes());
    }
    content
}

fn now() -> String {
    let now = DateTime::<Utc>::from(SystemTime::now());
    now.format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Position of the time mark in the content.
pub(super) fn mark(content: &[u8]) -> Option<usize> {
    let mark = WRITTEN_AT.as_bytes();
    content.windows(mark.len()).position(|part| part == mark)
}
