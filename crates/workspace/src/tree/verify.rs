//! Compares a tree on disk with its files.
//!
//! A crash, a full disk or a person may have changed the tree.

use std::collections::BTreeSet;
use std::io::Read;
use std::os::fd::OwnedFd;

use rustix::fs::{self, Dir, FileType, Mode, OFlags};

use types::WRITTEN_AT;

use super::build::mark;
use super::manifest::{DIRECTORY, FILE, Files, directories};
use crate::directory::CONFINED;

/// Checks that the tree contains exactly these files and that they are not writable.
///
/// # Errors
/// The difference.
pub(super) fn verify(tree: &OwnedFd, files: &Files<'_>) -> Result<(), String> {
    let directories = directories(files.keys());
    let mut expected: BTreeSet<&str> = directories.iter().map(String::as_str).collect();
    expected.extend(files.keys().map(String::as_str));
    let own = rustix::process::geteuid().as_raw();
    for directory in [""].into_iter().chain(directories.iter().map(String::as_str)) {
        let name = if directory.is_empty() { "." } else { directory };
        let wrong = |cause| format!("`{name}`: {cause}");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = fs::openat2(tree, name, flags, Mode::empty(), CONFINED).map_err(wrong)?;
        let stat = fs::fstat(&fd).map_err(wrong)?;
        if Mode::from_raw_mode(stat.st_mode) != DIRECTORY || stat.st_uid != own {
            return Err(format!("`{name}` has another owner or other permissions"));
        }
        for entry in Dir::new(fd).map_err(wrong)? {
            let entry = entry.map_err(wrong)?;
            let entry = entry.file_name().to_string_lossy();
            let path = if directory.is_empty() {
                entry.to_string()
            } else {
                format!("{directory}/{entry}")
            };
            if entry != "." && entry != ".." && !expected.contains(path.as_str()) {
                return Err(format!("`{path}` does not belong there"));
            }
        }
    }
    for (name, file) in files {
        let wanted = file.content();
        let wrong = |cause| format!("`{name}`: {cause}");
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let fd = fs::openat2(tree, name.as_str(), flags, Mode::empty(), CONFINED).map_err(wrong)?;
        let stat = fs::fstat(&fd).map_err(wrong)?;
        let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        if !regular || Mode::from_raw_mode(stat.st_mode) != FILE || stat.st_uid != own {
            return Err(format!("`{name}` has another owner or other permissions"));
        }
        let mut found = Vec::with_capacity(wanted.len());
        let most = u64::try_from(wanted.len()).unwrap_or(u64::MAX).saturating_add(1);
        std::fs::File::from(fd)
            .take(most)
            .read_to_end(&mut found)
            .map_err(|cause| format!("`{name}`: {cause}"))?;
        if !is_same(&found, &wanted) {
            return Err(format!("`{name}` has changed"));
        }
    }
    Ok(())
}

/// Whether the content is the expected one, with any time in place of its mark.
fn is_same(found: &[u8], wanted: &[u8]) -> bool {
    let Some(at) = mark(wanted) else {
        return found == wanted;
    };
    let end = at + WRITTEN_AT.len();
    let is_time = |time: &[u8]| {
        let like = |(c, like): (&u8, &u8)| {
            if *like == b'0' {
                c.is_ascii_digit()
            } else {
                c == like
            }
        };
        time.iter().zip(WRITTEN_AT.as_bytes()).all(like)
    };
    found.len() == wanted.len()
        && found[..at] == wanted[..at]
        && found[end..] == wanted[end..]
        && is_time(&found[at..end])
}
