//! Paths of a session.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;

/// The directory of programs, and where their relative paths begin.
pub const WORKSPACE: &str = "/workspace";
/// Output too long to be shown.
pub const RESULTS: &str = "/results";
/// Temporary files, which the sessions of one name share.
pub const SCRATCH: &str = "/scratch";
/// Where the directories of the host are mounted; programs know them by the links to them.
const ATTACHED: &str = "/at";
/// Where the directory of results and scratch files is mounted.
const SESSION: &str = "/at/session";
/// The session's own file system, to which other links lead.
const OWN: &str = "/rw/d";

/// Where the directories of the documented paths lie.
#[derive(Debug, Default)]
pub struct Places {
    /// Without mounts: the real directory of each documented path.
    moved: BTreeMap<String, String>,
}

impl Places {
    /// Takes the real directory of each documented path, for a session without mounts.
    pub fn moved(moved: BTreeMap<String, String>) -> Self {
        Self { moved }
    }

    /// Whether documented paths lead elsewhere.
    pub fn are_moved(&self) -> bool {
        !self.moved.is_empty()
    }

    /// The path by which the system knows a path of a program. A real path stays, also below a real `/tmp` or `/home`.
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

    /// The path by which programs know a real path. Without mounts programs see the host's paths, as tools do.
    pub fn shown<'a>(&self, real: &'a str) -> &'a str {
        if self.are_moved() { real } else { mounted(real) }
    }

    /// The documented path of a file in the workspace, among the results or the scratch files; `None` for other files.
    pub fn documented(&self, real: &str) -> Option<String> {
        [WORKSPACE, RESULTS, SCRATCH].into_iter().find_map(|place| {
            if !self.are_moved() {
                let path = mounted(real);
                return below(path, place).map(|_| path.to_owned());
            }
            // The directory itself may be reached through a link.
            let root = fs::canonicalize(&*self.actual(place)).ok()?;
            let rest = below(real, root.to_str()?)?;
            Some(format!("{place}{rest}"))
        })
    }

    /// The working directory, as programs know it.
    pub fn current_directory(&self) -> String {
        let real = std::env::current_dir().ok();
        let real = real.and_then(|path| path.into_os_string().into_string().ok());
        real.map_or_else(|| WORKSPACE.to_owned(), |real| self.shown(&real).to_owned())
    }
}

/// The name of a path that leads through a link to a mount.
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

/// What follows a directory in a path to the directory or below it.
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
