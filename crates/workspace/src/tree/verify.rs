//! Compares a tree on disk with its files.
//!
//! A crash, a full disk or a person may have changed the tree.

use std::collections::BTreeSet;
use std::io::Read;
use std::os::fd::OwnedFd;

use rustix::fs::{self, Dir, FileType, Mode, OFlags};

use super::{DIRECTORY, FILE, Files, directories};
use crate::directory::CONFINED;

/// Checks that the tree contains exactly these files and that they are not writable.
///
/// # Errors
/// The difference.
pub(super) fn verify(tree: &OwnedFd, files: &Files) -> Result<(), String> {
    let directories = directories(files);
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
    for (name, content) in files {
        let wrong = |cause| format!("`{name}`: {cause}");
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let fd = fs::openat2(tree, name.as_str(), flags, Mode::empty(), CONFINED).map_err(wrong)?;
        let stat = fs::fstat(&fd).map_err(wrong)?;
        let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        if !regular || Mode::from_raw_mode(stat.st_mode) != FILE || stat.st_uid != own || stat.st_nlink != 1 {
            return Err(format!("`{name}` has another owner or other permissions"));
        }
        let mut found = Vec::with_capacity(content.len());
        let most = u64::try_from(content.len()).unwrap_or(u64::MAX).saturating_add(1);
        std::fs::File::from(fd)
            .take(most)
            .read_to_end(&mut found)
            .map_err(|cause| format!("`{name}`: {cause}"))?;
        if found != *content {
            return Err(format!("`{name}` has changed"));
        }
    }
    Ok(())
}
