//! Paths as a session sees them: below one of five roots, without `..`.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use types::spelled_out;

use crate::failure::Failure;

/// A session directory with readable files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is named like its directory")]
pub enum Root {
    Tools,
    Skills,
    Scratch,
    Results,
    Workspace,
}

/// An absolute path: `/` itself, or one that begins with a [`Root`]. No component is `.` or `..`.
///
/// When displayed, control characters and invisible characters are escaped.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct VirtualPath {
    path: PathBuf,
    root: Option<Root>,
}

// === impl Root ===

impl Root {
    /// All roots, by name.
    pub const ALL: [Root; 5] = [
        Root::Results,
        Root::Scratch,
        Root::Skills,
        Root::Tools,
        Root::Workspace,
    ];

    /// The directory's name below `/`.
    pub fn name(self) -> &'static str {
        match self {
            Root::Tools => "tools",
            Root::Skills => "skills",
            Root::Scratch => "scratch",
            Root::Results => "results",
            Root::Workspace => "workspace",
        }
    }
}

// === impl VirtualPath ===

impl VirtualPath {
    /// Parses a word. Relative paths are below `/scratch`, as in system 0.
    pub(crate) fn parse(word: &str) -> Result<VirtualPath, Failure> {
        if word.contains('\0') {
            return Err(Failure::InvalidPath);
        }
        let absolute = Path::new("/scratch").join(word);
        let mut path = PathBuf::from("/");
        for component in absolute.components() {
            match component {
                Component::Normal(name) => path.push(name),
                Component::ParentDir => return Err(Failure::Traversal(shown(&absolute))),
                Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            }
        }
        let first = path.components().nth(1).map(Component::as_os_str);
        let root = Root::ALL
            .into_iter()
            .find(|root| first == Some(root.name().as_ref()));
        if first.is_some() && root.is_none() {
            return Err(Failure::ReadDenied(shown(&path)));
        }
        Ok(VirtualPath { path, root })
    }

    /// The absolute path, such as `/scratch/a/b`.
    pub fn as_path(&self) -> &Path {
        &self.path
    }

    /// The root and the path below it, which is empty for the root itself; `None` for `/`.
    pub fn place(&self) -> Option<(Root, &Path)> {
        let below = self
            .path
            .strip_prefix("/")
            .ok()?
            .strip_prefix(self.root?.name())
            .ok()?;
        Some((self.root?, below))
    }

    /// `None` for a name that is not an entry of this directory.
    pub(crate) fn join(&self, name: &OsStr) -> Option<VirtualPath> {
        let mut components = Path::new(name).components();
        let (Some(Component::Normal(only)), None) = (components.next(), components.next()) else {
            return None;
        };
        if only != name {
            return None;
        }
        let entered = Root::ALL.into_iter().find(|root| *name == *root.name());
        Some(VirtualPath {
            path: self.path.join(name),
            root: Some(self.root.or(entered)?),
        })
    }

    pub(crate) fn name(&self) -> &OsStr {
        self.path.file_name().unwrap_or(OsStr::new("/"))
    }
}

impl fmt::Display for VirtualPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&shown(&self.path))
    }
}

fn shown(path: &Path) -> String {
    spelled_out(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(word: &str, expected: &str) {
        let found = match VirtualPath::parse(word) {
            Ok(path) => path.to_string(),
            Err(refusal) => refusal.to_string(),
        };
        assert_eq!(found, expected, "{word:?}");
    }

    #[test]
    fn words_are_read_as_paths() {
        for (word, expected) in [
            ("", "/scratch"),
            (".", "/scratch"),
            ("./", "/scratch"),
            ("a.txt", "/scratch/a.txt"),
            ("./a//b/./c/", "/scratch/a/b/c"),
            ("/tools", "/tools"),
            ("//tools///x.py", "/tools/x.py"),
            ("/workspace/a b", "/workspace/a b"),
            ("/", "/"),
            ("///", "/"),
            ("/.", "/"),
            ("...", "/scratch/..."),
            ("..%2f..%2fetc", "/scratch/..%2f..%2fetc"),
            ("..", "EACCES: path traversal denied: /scratch/.."),
            ("a/../b", "EACCES: path traversal denied: /scratch/a/../b"),
            (
                "/tools/../etc/passwd",
                "EACCES: path traversal denied: /tools/../etc/passwd",
            ),
            ("/etc/passwd", "EACCES: read denied for path: /etc/passwd"),
            ("/Tools", "EACCES: read denied for path: /Tools"),
            ("/toolsx/a", "EACCES: read denied for path: /toolsx/a"),
            (
                "/proc/self/environ",
                "EACCES: read denied for path: /proc/self/environ",
            ),
            (
                "/\u{ff0e}\u{ff0e}/etc",
                "EACCES: read denied for path: /\u{ff0e}\u{ff0e}/etc",
            ),
            ("a\0b", "EACCES: invalid path"),
            ("a\x1b[2J", "/scratch/a\\u{1b}[2J"),
            ("/x\u{202e}", "EACCES: read denied for path: /x\\u{202e}"),
        ] {
            check(word, expected);
        }
    }

    #[test]
    fn a_path_has_a_root_and_a_rest() {
        let place = |word| {
            let path = VirtualPath::parse(word).unwrap();
            path.place().map(|(root, below)| (root, below.to_owned()))
        };
        assert_eq!(place("/"), None);
        assert_eq!(place("/tools"), Some((Root::Tools, PathBuf::new())));
        assert_eq!(place("a/b"), Some((Root::Scratch, PathBuf::from("a/b"))));
    }

    #[test]
    fn only_names_of_entries_are_joined() {
        let tools = VirtualPath::parse("/tools").unwrap();
        let top = VirtualPath::parse("/").unwrap();
        assert_eq!(tools.join("a.py".as_ref()).unwrap().to_string(), "/tools/a.py");
        assert_eq!(top.join("skills".as_ref()).unwrap().to_string(), "/skills");
        assert_eq!(top.join("etc".as_ref()), None);
        for name in ["", ".", "..", "a/b", "/etc", "a/", "./a"] {
            assert_eq!(tools.join(name.as_ref()), None, "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_word_leads_outside(word in r"[a-z./\\%~ ]{0,12}|\PC{0,12}") {
            if let Ok(path) = VirtualPath::parse(&word) {
                let text = path.as_path().to_str().unwrap();
                prop_assert!(!text.split('/').any(|part| part == ".." || part == "."));
                prop_assert_eq!(path.place().is_none(), text == "/");
            }
        }
    }
}
