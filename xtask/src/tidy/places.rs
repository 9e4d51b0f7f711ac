//! Rule: no tracked file names a package registry's host, the checkout's place or the builder's home.
//!
//! Clients find their registry by their own settings; a path of one machine is wrong on every other.

use std::path::{Path, PathBuf};

use super::{File, Problem};
use crate::layout;

/// Registries, in parts, so that this file does not name them.
const REGISTRIES: [&[&str]; 9] = [
    &["crates", "io"],
    &["pypi", "org"],
    &["pythonhosted", "org"],
    &["npmjs", "org"],
    &["npmjs", "com"],
    &["yarnpkg", "com"],
    &["deb", "debian", "org"],
    &["archive", "ubuntu", "com"],
    &["golang", "org"],
];

/// Lock files record where packages came from, and `deny.toml` says where they may come from.
const EXEMPT: [&str; 3] = ["Cargo.lock", "package-lock.json", "deny.toml"];

/// Directories that every machine has; being below one of them tells nothing.
const COMMON: [&str; 9] = [
    "/", "/home", "/root", "/tmp", "/var", "/srv", "/opt", "/usr", "/mnt",
];

/// What builders have in their homes.
const TOOLS: [&str; 6] = [".cache", ".cargo", ".local", ".npm", ".pyenv", ".rustup"];

/// The paths of this machine that no file may hold.
#[derive(Debug)]
pub(super) struct Private {
    directories: Vec<String>,
}

impl Private {
    /// The checkout, the directory around it unless every machine has it, and the builder's home.
    pub(super) fn of_this_machine() -> Private {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        Private::of(
            layout::root(),
            home.as_deref().filter(|home| home.parent().is_some()),
        )
    }

    fn of(checkout: &Path, home: Option<&Path>) -> Private {
        let is_common = |path: &Path| COMMON.iter().any(|common| path == Path::new(common));
        let mut places = vec![checkout.to_owned()];
        places.extend(
            checkout
                .parent()
                .filter(|around| !is_common(around))
                .map(Path::to_owned),
        );
        match home {
            // A program may well try the home of root; the builder's tools in it are another matter.
            Some(home) if is_common(home) => places.extend(TOOLS.iter().map(|tool| home.join(tool))),
            Some(home) => places.push(home.to_owned()),
            None => {}
        }
        Private {
            directories: places.iter().map(|path| path.display().to_string()).collect(),
        }
    }
}

/// Looks at every line, comments included.
pub(super) fn check(file: &File, private: &Private) -> Vec<Problem> {
    let name = file.path.rsplit('/').next().unwrap_or(file.path);
    if EXEMPT.contains(&name) {
        return Vec::new();
    }
    let registries: Vec<String> = REGISTRIES.iter().map(|parts| parts.join(".")).collect();
    let mut problems = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        if let Some(host) = registries.iter().find(|host| names_host(line, host)) {
            problems.push(file.problem(
                index + 1,
                format!("names the registry {host}; use the client and the package's name"),
            ));
        }
        if let Some(directory) = private
            .directories
            .iter()
            .find(|directory| names_directory(line, directory))
        {
            problems.push(file.problem(index + 1, format!("names {directory}, a place of this machine")));
        }
    }
    problems
}

/// Whether the host or one below it stands in the line.
fn names_host(line: &str, host: &str) -> bool {
    let longer = |character: char| character.is_alphanumeric() || character == '-';
    line.match_indices(host)
        .any(|(at, _)| !line[..at].ends_with(longer) && !line[at + host.len()..].starts_with(longer))
}

/// Whether something in the directory stands in the line, not merely a longer path that ends like it.
fn names_directory(line: &str, directory: &str) -> bool {
    let longer = |character: char| character.is_alphanumeric() || "._-/~}".contains(character);
    line.match_indices(&format!("{directory}/"))
        .any(|(at, _)| !line[..at].ends_with(longer))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        let private = Private::of(Path::new("/build/codeyard"), Some(Path::new("/home/ada")));
        check(&File { path, text }, &private).len()
    }

    #[test]
    fn registries_fail_wherever_they_stand() {
        for parts in REGISTRIES {
            let host = parts.join(".");
            assert_eq!(count("README.md", &format!("see https://{host}/x\n")), 1);
            assert_eq!(count("README.md", &format!("see https://index.{host}\n")), 1);
            assert_eq!(
                count(
                    "crates/a/package-lock.json",
                    &format!("https://registry.{host}/\n")
                ),
                0
            );
            assert_eq!(count("deny.toml", &host), 0);
        }
        let other = format!(
            "not-{} and {}x, pip and npm\n",
            REGISTRIES[0].join("."),
            REGISTRIES[1].join(".")
        );
        assert_eq!(count("README.md", &other), 0);
    }

    #[test]
    fn paths_of_the_builder_fail() {
        assert_eq!(count("a.rs", "let path = \"/build/codeyard/target\";\n"), 1);
        assert_eq!(count("a.rs", "# /home/ada/.cargo\n"), 1);
        assert_eq!(
            count("a.rs", "/srv/build/codeyard/x /home/adam/x ${ROOT}/home/ada/x\n"),
            0
        );
    }

    #[test]
    fn what_every_machine_has_tells_nothing() {
        let private = Private::of(Path::new("/opt/codeyard"), Some(Path::new("/root")));
        let count = |text: &str| check(&File { path: "a.rs", text }, &private).len();
        assert_eq!(count("open('/root/x', 'w')\n/opt/other/x\n"), 0);
        assert_eq!(count(&format!("/root/{}/bin/cargo\n", TOOLS[1])), 1);
        assert_eq!(count("/opt/codeyard/x\n"), 1);
    }
}
