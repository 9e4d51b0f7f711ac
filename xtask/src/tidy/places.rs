//! Rule: no tracked file names a host of the network, the checkout's place or the builder's home.
//!
//! Clients find their registry by their own settings; a path of one machine is wrong on every other.

use std::path::{Path, PathBuf};

use super::file::{File, Problem};
use crate::layout;

/// Hosts that addresses may name: reserved for examples, this machine itself, names of formats and licenses, and the
/// conformance suite's name for a client, which is looked up by nobody. Whatever else is wanted from the network is the
/// business of a client and its own settings.
const HOSTS: [&str; 10] = [
    "example",
    "example.com",
    "example.org",
    "localhost",
    "127.0.0.1",
    "[::1]",
    "www.w3.org",
    "www.apache.org",
    "json-schema.org",
    "conformance-test.local",
];

/// Where an address begins.
const SCHEMES: [&str; 2] = ["http://", "https://"];

/// The lock file records where packages came from, `deny.toml` says where they may come from, and the catalogue holds what
/// real servers say.
const EXEMPT: [&str; 2] = ["Cargo.lock", "deny.toml"];
const EXEMPT_DIRECTORY: &str = "crates/test-support/catalogue/";

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
    if EXEMPT.contains(&file.path) || file.path.starts_with(EXEMPT_DIRECTORY) {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for host in foreign_hosts(line) {
            problems.push(file.problem(
                index + 1,
                format!("names the host {host}; name the client and the package, or a host of example.com"),
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

/// Hosts of addresses in the line that are none of [`HOSTS`] nor below one.
fn foreign_hosts(line: &str) -> impl Iterator<Item = &str> {
    let addresses = SCHEMES.iter().flat_map(|scheme| {
        line.match_indices(scheme)
            .map(|(at, scheme)| &line[at + scheme.len()..])
    });
    addresses
        .map(|rest| {
            let is_host = |character: char| character.is_ascii_alphanumeric() || ".-[]:".contains(character);
            let host = &rest[..rest.find(|character| !is_host(character)).unwrap_or(rest.len())];
            // A port is no part of it; one of an address in brackets stands behind them.
            let port = host.rfind(':').filter(|at| !host[*at..].contains(']'));
            host[..port.unwrap_or(host.len())].trim_end_matches('.')
        })
        // One word is a name of the local network, and no dot is a host that is put together elsewhere.
        .filter(|host| host.contains('.') && !is_allowed(host))
}

fn is_allowed(host: &str) -> bool {
    HOSTS.iter().any(|allowed| {
        host.strip_suffix(allowed)
            .is_some_and(|above| above.is_empty() || above.ends_with('.'))
    })
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
    fn hosts_fail_unless_they_are_for_examples() {
        let address = |host: &str| format!("see {}{host}/x\n", SCHEMES[1]);
        assert_eq!(count("README.md", &address("index.registry.invalid")), 1);
        assert_eq!(count("README.md", &address("not-example.invalid:8080")), 1);
        assert_eq!(count("fuzz/Cargo.lock", &address("registry.invalid")), 1);
        assert_eq!(count("Cargo.lock", &address("registry.invalid")), 0);
        assert_eq!(count("deny.toml", &address("registry.invalid")), 0);
        for host in [
            "mcp.example",
            "mcp.example.com",
            "127.0.0.1:80",
            "[::1]:80",
            "internal",
            "{host}",
        ] {
            assert_eq!(count("README.md", &address(host)), 0, "{host}");
        }
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
