//! Paths of a session.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;

/// The directory in which programs start.
pub const WORKSPACE: &str = "/workspace";
/// Copies of long output.
pub const RESULTS: &str = "/results";
/// Temporary files, shared by the sessions of one name.
pub const SCRATCH: &str = "/scratch";
/// Mount point of the host's directories; programs see links to them.
const ATTACHED: &str = "/at";
/// Mount point of the directory with results and scratch files.
const SESSION: &str = "/at/session";
/// The session's own file system, the target of the other links.
const OWN: &str = "/rw/d";

/// Real directories of the documented paths.
#[derive(Debug, Default)]
pub struct Places {
    /// Without mounts: the real directory of each documented path.
    moved: BTreeMap<String, String>,
}

impl Places {
    /// For a session without mounts: takes the real directory of each documented path.
    pub fn moved(moved: BTreeMap<String, String>) -> Self {
        Self { moved }
    }

    /// Whether documented paths are mapped to other directories.
    pub fn are_moved(&self) -> bool {
        !self.moved.is_empty()
    }

    /// The real path of a program's path. A real path stays unchanged, even below a real `/tmp` or `/home`.
    pub fn actual<'a>(&self, path: &'a str) -> Cow<'a, str> {
        let is_real = || self.moved.values().any(|real| below(path, real).is_some());
        let moved = self
            .moved
            .iter()
            .filter_map(|(place, real)| Some((place, real, below(path, place)?)))
            .max_by_key(|(place, ..)| place.len());
        match moved {
            Some((_, real, rest)) if !is_real() => Cow::Owned(format!("{real}{rest}")),
            _ => Cow::Borrowed(path),
        }
    }

    /// The program's path of a real path. Without mounts, programs see the host's paths, as tools do.
    pub fn shown<'a>(&self, real: &'a str) -> &'a str {
        if self.are_moved() { real } else { mounted(real) }
    }

    /// The documented path of a workspace, result or scratch file; `None` for other files.
    pub fn documented(&self, real: &str) -> Option<String> {
        [WORKSPACE, RESULTS, SCRATCH].into_iter().find_map(|place| {
            if !self.are_moved() {
                let path = mounted(real);
                return below(path, place).map(|_| path.to_owned());
            }
            // The directory itself may be behind a link.
            let root = fs::canonicalize(&*self.actual(place)).ok()?;
            let rest = below(real, root.to_str()?)?;
            Some(format!("{place}{rest}"))
        })
    }

    /// The working directory as programs see it.
    pub fn current_directory(&self) -> String {
        let real = std::env::current_dir().ok();
        let real = real.and_then(|path| path.into_os_string().into_string().ok());
        real.map_or_else(|| WORKSPACE.to_owned(), |real| self.shown(&real).to_owned())
    }
}

/// The link's path for a path below a mount.
fn mounted(real: &str) -> &str {
    if let Some(own) = real.strip_prefix(OWN).filter(|own| own.starts_with('/')) {
        return own;
    }
    let is_of = |path: &str, roots: &[&str]| roots.iter().any(|root| below(path, root).is_some());
    let mounts: [(&str, &[&str]); 2] = [(SESSION, &[RESULTS, SCRATCH]), (ATTACHED, &[WORKSPACE])];
    let known = mounts
        .iter()
        .find_map(|(mount, roots)| real.strip_prefix(mount).filter(|path| is_of(path, roots)));
    known.unwrap_or(real)
}

/// The rest of a path below a directory; `None` for other paths.
fn below<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    path.strip_prefix(directory)
        .filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        let moved = [
            ("/workspace", "/home/ana/files"),
            ("/results", "/home/ana/results"),
            ("/home", "/tmp/s1/home"),
            ("/tmp", "/tmp/s1/tmp"),
        ];
        Places::moved(
            moved
                .map(|(place, real)| (place.to_owned(), real.to_owned()))
                .into(),
        )
    }

    #[track_caller]
    fn check(path: &str, expected: &str) {
        assert_eq!(places().actual(path), expected);
    }

    #[test]
    fn documented_paths_lead_to_the_real_ones_and_those_stay() {
        check("/workspace", "/home/ana/files");
        check("/workspace/a/b", "/home/ana/files/a/b");
        check("/workspaces/a", "/workspaces/a");
        check("/tmp/file", "/tmp/s1/tmp/file");
        check("/tmp/s1/tmp/file", "/tmp/s1/tmp/file");
        check("/home/ana/files/a", "/home/ana/files/a");
        check("/home/ana/filesystem", "/tmp/s1/home/ana/filesystem");
        check("/etc/hosts", "/etc/hosts");
        check("a/tmp/b", "a/tmp/b");
        assert_eq!(Places::default().actual("/tmp/file"), "/tmp/file");
    }

    #[test]
    fn programs_know_the_links_to_mounts_by_their_names() {
        let places = Places::default();
        for (real, shown) in [
            ("/at/workspace/a", "/workspace/a"),
            ("/at/data/a", "/at/data/a"),
            ("/rw/d/tmp/a", "/tmp/a"),
        ] {
            assert_eq!(places.shown(real), shown);
        }
        for (real, documented) in [
            ("/at/session/results/a", Some("/results/a")),
            ("/at/session/scratch/a", Some("/scratch/a")),
            ("/at/session/other/a", None),
            ("/at/results/a", None),
        ] {
            assert_eq!(places.documented(real).as_deref(), documented, "{real}");
        }
        assert_eq!(places.documented("/rw/d/tmp/a"), None);
    }
}
