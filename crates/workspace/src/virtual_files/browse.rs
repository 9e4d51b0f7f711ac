//! Lists directories, in bounded time and memory for any number of entries.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::SystemTime;

use rustix::fs::{self, AtFlags, Dir, FileType, Stat};
use rustix::io::Errno;

use super::read::reason;
use super::{Access, MOST_ENTRIES, Root, VirtualFiles, find, readable, size_of};
use crate::directory::modified_at;
use crate::virtual_files::error::FileError;
use crate::virtual_files::path::VirtualPath;
use crate::virtual_files::policy::Operation;

/// Default directory.
const DEFAULT: &str = "/tools";

/// Maximum entries of one directory that are examined.
pub(super) const MOST_SEEN: usize = 250_000;

/// A request for a list.
#[derive(Debug, Clone, Copy)]
pub struct Browse<'a> {
    /// Empty for `/tools`.
    pub path: &'a str,
    /// Whether names that begin with `.` are listed.
    pub include_hidden: bool,
    /// Clamped to the range from 1 to [`MOST_ENTRIES`].
    pub max_entries: usize,
}

/// The answer to a request for a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryListing {
    /// The normalized path.
    pub path: String,
    /// Directories first, then by name without regard to case.
    pub entries: Vec<Listed>,
    /// Whether there are more entries.
    pub truncated: bool,
}

/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Bytes outside UTF-8 are shown as `U+FFFD`; the path still leads to the entry, unless another name looks the
    /// same.
    pub name: String,
    /// Virtual path.
    pub path: String,
    /// Links and special files count as files. They are listed and never read.
    pub kind: ListedKind,
    /// Purpose of a root.
    pub description: Option<&'static str>,
    /// Bytes.
    pub size_bytes: u64,
    /// Last change; `None` for roots.
    pub modified_at: Option<SystemTime>,
}

/// Kinds of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ListedKind {
    File,
    Directory,
}

/// Order of entries: directories first, then lower-case name, then exact name.
type Order = (Reverse<bool>, String, Vec<u8>);

impl VirtualFiles {
    /// Lists a directory, or one file.
    ///
    /// # Errors
    /// If the path is missing or not readable.
    pub fn browse(&self, request: &Browse<'_>) -> Result<DirectoryListing, FileError> {
        let path = match request.path.trim() {
            "" => DEFAULT,
            _ => request.path,
        };
        find(path, |path| self.browse_at(path, request))
    }

    fn browse_at(&self, path: &VirtualPath, request: &Browse<'_>) -> Result<DirectoryListing, FileError> {
        if path.is_top() {
            return Ok(DirectoryListing {
                path: path.text().to_owned(),
                entries: self.roots.iter().map(Root::listed).collect(),
                truncated: false,
            });
        }
        let (root, below) = self.root(path)?;
        self.policy.check(Operation::Read, path)?;
        let Some(top) = &root.directory else {
            return match below {
                "" => Ok(DirectoryListing {
                    path: path.text().to_owned(),
                    entries: Vec::new(),
                    truncated: false,
                }),
                _ => Err(FileError::Missing(path.shown())),
            };
        };
        let held = super::read::held(top.as_fd(), below).map_err(|cause| reason(path, cause))?;
        let stat = fs::fstat(&held).map_err(|cause| reason(path, cause))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return file(path, &stat, root.access);
        }
        let Some(directory) = readable(held.as_fd()) else {
            return Err(FileError::Denied {
                operation: Operation::Read,
                path: path.shown(),
            });
        };
        let (names, truncated) = first(directory.as_fd(), request).map_err(|cause| reason(path, cause))?;
        let entry = |name: &Vec<u8>| {
            let stat = fs::statat(&directory, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
            let name = String::from_utf8_lossy(name).into_owned();
            Some(listed(format!("{}/{name}", path.text()), name, &stat))
        };
        Ok(DirectoryListing {
            path: path.text().to_owned(),
            // Leaves out entries that were removed meanwhile.
            entries: names.iter().filter_map(entry).collect(),
            truncated,
        })
    }
}

impl Root {
    fn listed(&self) -> Listed {
        Listed {
            name: self.name.to_owned(),
            path: format!("/{}", self.name),
            kind: ListedKind::Directory,
            description: Some(self.description),
            size_bytes: self.stat().as_ref().map_or(0, size_of),
            modified_at: None,
        }
    }
}

/// The list of one file.
fn file(path: &VirtualPath, stat: &Stat, access: Access) -> Result<DirectoryListing, FileError> {
    super::read::check_kind(path, stat, access)?;
    let name = path.text().rsplit('/').next().unwrap_or_default().to_owned();
    Ok(DirectoryListing {
        path: path.text().to_owned(),
        entries: vec![listed(path.text().to_owned(), name, stat)],
        truncated: false,
    })
}

fn listed(path: String, name: String, stat: &Stat) -> Listed {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => ListedKind::Directory,
        _ => ListedKind::File,
    };
    Listed {
        name,
        path,
        kind,
        description: None,
        size_bytes: size_of(stat),
        modified_at: Some(modified_at(stat)),
    }
}

/// The first names of a directory in order, and whether there are more.
fn first(directory: BorrowedFd<'_>, request: &Browse<'_>) -> Result<(Vec<Vec<u8>>, bool), Errno> {
    let most = request.max_entries.clamp(1, MOST_ENTRIES);
    let mut names: BinaryHeap<Order> = BinaryHeap::with_capacity(most + 1);
    let mut truncated = false;
    for (seen, entry) in Dir::read_from(directory)?.enumerate() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." || (!request.include_hidden && name.first() == Some(&b'.')) {
            continue;
        }
        if seen >= MOST_SEEN {
            truncated = true;
            break;
        }
        let is_directory = match entry.file_type() {
            FileType::Unknown => is_directory(directory, name),
            kind => kind == FileType::Directory,
        };
        let lower = String::from_utf8_lossy(name).to_lowercase();
        names.push((Reverse(is_directory), lower, name.to_vec()));
        if names.len() > most {
            names.pop();
            truncated = true;
        }
    }
    let names = names.into_sorted_vec();
    Ok((names.into_iter().map(|(.., name)| name).collect(), truncated))
}

fn is_directory(directory: BorrowedFd<'_>, name: &[u8]) -> bool {
    fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}
