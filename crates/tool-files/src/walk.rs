//! Lists the files that may be tools, without opening any.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat2};

use crate::finding::Finding;
use crate::notices::Notices;
use crate::read::MAX_FILE;
use crate::stamp::Stamp;

/// Most entries of all directories together.
pub(crate) const MAX_ENTRIES: usize = 20_000;

/// Paths stay below a directory and follow no link.
pub(crate) const CONFINED: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS);

/// Most tool files of all directories together.
pub(crate) const MAX_FILES: usize = 10_000;

/// Most bytes of all tool files together.
pub(crate) const MAX_TOTAL: u64 = 64 * 1024 * 1024;

/// Subdirectory with the servers.
const SERVERS: &str = "servers";

/// Most bytes of a server's or tool's name, which becomes a file name elsewhere.
const MAX_NAME: usize = 120;

/// Python's keywords, which cannot be names.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// A file that may be a tool.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) path: PathBuf,
    pub(crate) stamp: Stamp,
    /// The directory of servers.
    pub(crate) root: Arc<OwnedFd>,
    /// The path below `root`, without links.
    pub(crate) below: PathBuf,
}

#[derive(Debug)]
pub(crate) struct Walk<'a> {
    /// Watches every directory of the walk.
    notices: &'a mut Notices,
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) findings: Vec<Finding>,
    /// Directories of servers, without links, so that a repeated one counts once.
    roots: BTreeSet<PathBuf>,
    /// Names taken by earlier directories.
    taken: BTreeSet<(String, String)>,
    bytes: u64,
    /// Entries examined.
    entries: usize,
    /// Files beyond the limits.
    beyond: usize,
}

struct Root {
    path: PathBuf,
    fd: Arc<OwnedFd>,
}

struct Entry {
    name: String,
    path: PathBuf,
    /// The path without links.
    target: PathBuf,
    metadata: fs::Metadata,
}

// === impl Walk ===

impl<'a> Walk<'a> {
    /// Walks the directories in order; an earlier one takes precedence.
    pub(crate) fn of(directories: &[PathBuf], notices: &'a mut Notices) -> Walk<'a> {
        notices.begin();
        let mut walk = Walk {
            notices,
            candidates: Vec::new(),
            findings: Vec::new(),
            roots: BTreeSet::new(),
            taken: BTreeSet::new(),
            bytes: 0,
            entries: 0,
            beyond: 0,
        };
        for directory in directories {
            walk.directory(directory);
        }
        walk
    }

    fn directory(&mut self, directory: &Path) {
        let before = self.beyond;
        self.notices.given(directory);
        if fs::symlink_metadata(directory.join(SERVERS)).is_ok_and(|found| found.is_symlink()) {
            self.notices.miss();
        }
        match root(directory) {
            Ok(root) if self.roots.insert(root.path.clone()) => self.servers(&root),
            Ok(_) => {}
            Err(error) => self.left_out(directory, why_unreadable(&error)),
        }
        match self.beyond - before {
            0 => {}
            files => self.left_out(
                directory,
                format!(
                    "has {files} files too many: at most {MAX_FILES} tool files of {} MiB together are read",
                    MAX_TOTAL / 1024 / 1024
                ),
            ),
        }
    }

    fn servers(&mut self, root: &Root) {
        for entry in self.entries(&root.path, &root.path, root) {
            if entry.metadata.is_dir() && self.is_name(&entry.name, &entry.path) {
                self.server(&entry, root);
            }
        }
    }

    fn server(&mut self, server: &Entry, root: &Root) {
        for entry in self.entries(&server.path, &server.target, root) {
            let Some(tool) = entry.name.strip_suffix(".py") else {
                continue;
            };
            if !entry.metadata.is_file() {
                self.left_out(
                    &entry.path,
                    "is not a regular file; write the tool into a regular file",
                );
            } else if self.is_name(tool, &entry.path) {
                self.file(&server.name, tool, &entry, root);
            }
        }
    }

    fn file(&mut self, server: &str, tool: &str, entry: &Entry, root: &Root) {
        let stamp = Stamp::of(&entry.metadata);
        if stamp.size > MAX_FILE {
            let message = format!(
                "is larger than {} KiB; a tool is one function, and its data belongs elsewhere",
                MAX_FILE / 1024
            );
            return self.left_out(&entry.path, message);
        }
        if self.candidates.len() >= MAX_FILES || self.bytes + stamp.size > MAX_TOTAL {
            self.beyond += 1;
            return;
        }
        if !self.taken.insert((server.to_owned(), tool.to_owned())) {
            let message = format!("is not used: an earlier directory has a tool {server}.{tool}; rename one");
            return self.left_out(&entry.path, message);
        }
        self.bytes += stamp.size;
        self.candidates.push(Candidate {
            server: server.to_owned(),
            tool: tool.to_owned(),
            path: entry.path.clone(),
            stamp,
            root: root.fd.clone(),
            below: entry
                .target
                .strip_prefix(&root.path)
                .unwrap_or(&entry.target)
                .to_path_buf(),
        });
    }

    /// The usable entries of a directory, by name; `target` is its path without links. Leaves out
    /// links that lead outside the root.
    fn entries(&mut self, directory: &Path, target: &Path, root: &Root) -> Vec<Entry> {
        if self.entries > MAX_ENTRIES {
            return Vec::new();
        }
        self.notices.watch(directory);
        let listed = match fs::read_dir(directory) {
            Ok(listed) => listed,
            Err(error) => {
                self.unreadable(directory, &error);
                return Vec::new();
            }
        };
        let mut entries = Vec::new();
        for entry in listed {
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                self.left_out(
                    directory,
                    format!("is read only in part: it has more than {MAX_ENTRIES} entries; remove files that are not tools"),
                );
                break;
            }
            match entry {
                Ok(entry) => entries.extend(self.entry(&entry, target, root)),
                Err(error) => self.unreadable(directory, &error),
            }
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        entries
    }

    fn entry(&mut self, entry: &fs::DirEntry, directory: &Path, root: &Root) -> Option<Entry> {
        let path = entry.path();
        let name = entry.file_name();
        let is_python = Path::new(&name).extension().is_some_and(|ending| ending == "py");
        let Some(name) = name.to_str() else {
            if is_python {
                self.left_out(&path, "has a name that is not UTF-8; rename it");
            }
            return None;
        };
        if name.starts_with(['_', '.']) {
            return None;
        }
        let (metadata, target) = match entry.metadata() {
            Ok(metadata) if metadata.is_symlink() => self.followed(&path, &root.path)?,
            Ok(metadata) => (metadata, directory.join(name)),
            Err(error) => {
                self.unreadable(&path, &error);
                return None;
            }
        };
        let counts = metadata.is_dir() || is_python;
        counts.then(|| Entry {
            name: name.to_owned(),
            path,
            target,
            metadata,
        })
    }

    /// A link's target, if below the same root.
    fn followed(&mut self, path: &Path, root: &Path) -> Option<(fs::Metadata, PathBuf)> {
        self.notices.miss();
        match path
            .canonicalize()
            .and_then(|target| Ok((target.metadata()?, target)))
        {
            Ok((metadata, target)) if target.starts_with(root) => Some((metadata, target)),
            Ok(_) => {
                self.left_out(
                    path,
                    "is a link that leads out of the directory of tools; copy what it leads to",
                );
                None
            }
            Err(error) => {
                self.unreadable(path, &error);
                None
            }
        }
    }

    fn is_name(&mut self, name: &str, path: &Path) -> bool {
        let what = match name {
            _ if KEYWORDS.contains(&name) => format!("`{name}` is a Python keyword"),
            _ if name.len() > MAX_NAME => format!("its name is longer than {MAX_NAME} bytes"),
            _ if !is_identifier(name) => format!("`{name}` is not a Python name"),
            _ => return true,
        };
        self.left_out(
            path,
            format!("is not used: {what}; rename it, with letters, digits and `_` only"),
        );
        false
    }

    fn left_out(&mut self, path: &Path, message: impl Into<String>) {
        self.findings.push(Finding {
            path: path.to_path_buf(),
            line: None,
            message: message.into(),
            is_used: false,
        });
    }

    fn unreadable(&mut self, path: &Path, error: &io::Error) {
        self.left_out(path, why_unreadable(error));
    }
}

/// The directory of servers: below the given one, or that itself.
fn root(directory: &Path) -> io::Result<Root> {
    let given = directory.canonicalize()?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = open(&given, flags, Mode::empty())?;
    if !given.join(SERVERS).is_dir() {
        return Ok(Root {
            path: given,
            fd: Arc::new(fd),
        });
    }
    let path = given.join(SERVERS).canonicalize()?;
    let Ok(below) = path.strip_prefix(&given) else {
        let why = "`servers` is a link that leads out of the directory; give the directory that it leads to";
        return Err(io::Error::other(why));
    };
    let below = match below.as_os_str().is_empty() {
        true => Path::new("."),
        false => below,
    };
    let fd = Arc::new(openat2(&fd, below, flags, Mode::empty(), CONFINED)?);
    Ok(Root { path, fd })
}

/// The error with advice.
pub(crate) fn why_unreadable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or directory".to_owned(),
        io::ErrorKind::NotADirectory => {
            "this is not a directory; name the one that holds `servers`".to_owned()
        }
        io::ErrorKind::PermissionDenied => {
            "cannot be read: permission denied; let this user read it".to_owned()
        }
        _ => format!("cannot be read: {error}"),
    }
}

/// Whether Python accepts the name unchanged. ASCII only, like names in programs.
fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}
