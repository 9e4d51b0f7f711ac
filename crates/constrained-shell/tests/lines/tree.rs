//! A tree of files in memory.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use constrained_shell::{EntryKind, FileEntry, FileError, Root, VirtualFiles, VirtualPath};

/// Every root is there, also without files.
#[derive(Default)]
pub(crate) struct Tree {
    nodes: BTreeMap<PathBuf, Node>,
}

enum Node {
    Content(Vec<u8>),
    /// So many bytes of the same value.
    Repeated(u8, u64),
    Link,
    Denied,
    /// It opens, and fails when it is read.
    Broken,
    Unopenable,
}

/// What the tests' lines work on.
pub(crate) fn session() -> Tree {
    Tree::default()
        .file(
            "/tools/_schema.json",
            r#"{"version": "2026-02-01", "roots": ["/tools"], "stub_language": "python"}"#,
        )
        .file(
            "/tools/_runtime.py",
            "async def toolcall(server, tool, args):\n    pass\n",
        )
        .file("/tools/.search_index", "stub/add.py:async def add\n")
        .file("/tools/stub/_meta.json", r#"{"server": "stub", "tool_count": 2}"#)
        .file(
            "/tools/stub/add.py",
            "async def add(args):\n    return await toolcall('stub', 'add', args)\n",
        )
        .file("/tools/stub/echo.py", "async def echo(args):\n    return args\n")
        .file("/tools/stub/add.ts", "export async function add(args) {}\n")
        .file("/tools/.hidden/add.py", "def add(): pass\n")
        .file("/scratch/a.txt", "one\ntwo\nthree\n")
        .file("/scratch/b.txt", "four\nFive\n")
        .file("/scratch/open.txt", "no end of line")
        .file("/scratch/empty.txt", "")
        .file("/scratch/bad.json", "{")
        .file(
            "/scratch/n.json",
            r#"{"a": 1, "b": [1, 2, 3], "c": {"d": "text", "e": null, "f": true}}"#,
        )
        .file("/scratch/dir/deep/er/x.txt", "two deep\n")
        .file("/scratch/dir/y.txt", "two\n")
        .file("/scratch/.secret", "two hidden\n")
        .node("/scratch/link", Node::Link)
        .node("/scratch/dir/link.txt", Node::Link)
        .node("/scratch/denied.txt", Node::Denied)
        .node("/scratch/broken.txt", Node::Broken)
        .node("/scratch/unopenable.txt", Node::Unopenable)
}

// === impl Tree ===

impl Tree {
    pub(crate) fn file(self, path: &str, content: impl Into<Vec<u8>>) -> Tree {
        self.node(path, Node::Content(content.into()))
    }

    pub(crate) fn named(self, directory: &str, name: &[u8], content: &str) -> Tree {
        let path = Path::new(directory).join(OsStr::from_bytes(name));
        self.at(path, Node::Content(content.into()))
    }

    pub(crate) fn repeated(self, path: &str, byte: u8, count: u64) -> Tree {
        self.node(path, Node::Repeated(byte, count))
    }

    fn node(self, path: &str, node: Node) -> Tree {
        self.at(path.into(), node)
    }

    fn at(mut self, path: PathBuf, node: Node) -> Tree {
        self.nodes.insert(path, node);
        self
    }

    fn is_directory(&self, path: &Path) -> bool {
        let is_root = Root::ALL
            .iter()
            .any(|root| path == Path::new("/").join(root.name()));
        is_root
            || path == Path::new("/")
            || self
                .nodes
                .keys()
                .any(|node| node != path && node.starts_with(path))
    }
}

impl VirtualFiles for Tree {
    fn list(&self, directory: &VirtualPath) -> Result<Vec<FileEntry>, FileError> {
        let path = directory.as_path();
        if !self.is_directory(path) {
            return Err(match self.nodes.get(path) {
                Some(Node::Link | Node::Denied) => FileError::Denied,
                Some(_) => FileError::NotDirectory,
                None => FileError::Missing,
            });
        }
        let below = |node: &PathBuf| {
            let first = node.strip_prefix(path).ok()?.components().next()?;
            Some(first.as_os_str().to_owned())
        };
        let mut names: Vec<OsString> = self.nodes.keys().filter_map(below).collect();
        if path == Path::new("/") {
            names.extend(Root::ALL.iter().map(|root| root.name().into()));
        }
        names.sort_by(|one, other| other.cmp(one));
        names.dedup();
        Ok(names.into_iter().map(|name| self.entry(path, name)).collect())
    }

    fn open(&self, file: &VirtualPath) -> Result<Box<dyn Read + '_>, FileError> {
        match self.nodes.get(file.as_path()) {
            _ if self.is_directory(file.as_path()) => Err(FileError::IsDirectory),
            Some(Node::Content(content)) => Ok(Box::new(content.as_slice())),
            Some(Node::Repeated(byte, count)) => Ok(Box::new(io::repeat(*byte).take(*count))),
            Some(Node::Link | Node::Denied) => Err(FileError::Denied),
            Some(Node::Broken) => Ok(Box::new(Broken)),
            Some(Node::Unopenable) => Err(FileError::Failed("too many open files".to_owned())),
            None => Err(FileError::Missing),
        }
    }
}

impl Tree {
    fn entry(&self, directory: &Path, name: OsString) -> FileEntry {
        let path = directory.join(&name);
        let kind = match self.nodes.get(&path) {
            _ if self.is_directory(&path) => EntryKind::Directory,
            Some(Node::Link) => EntryKind::Special,
            _ => EntryKind::File,
        };
        FileEntry { name, kind }
    }
}

struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("input/output error"))
    }
}
