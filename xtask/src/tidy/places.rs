//! Rule: no tracked file names a network host, the checkout's directory or the builder's home.
//!
//! Clients find their registry through their own settings. A path of one machine is wrong on every other.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use super::file::{File, Problem};
use crate::layout;

/// Hosts that addresses may name: example hosts, this machine, names of formats and licenses, and
/// the conformance suite's client name, which is never resolved. Other network access belongs to
/// clients and their settings.
const HOSTS: [&str; 11] = [
    "example",
    "example.com",
    "example.org",
    "localhost",
    "127.0.0.1",
    "[::1]",
    "www.w3.org",
    "www.apache.org",
    "json-schema.org",
    "schemas.openid.net",
    "conformance-test.local",
];

const SCHEMES: [&str; 2] = ["http://", "https://"];

/// `Cargo.lock` and `deny.toml` name sources of packages; the catalogue records real servers' answers, and the
/// TypeScript cases name addresses that nobody opens.
const EXEMPT: [&str; 2] = ["Cargo.lock", "deny.toml"];
const EXEMPT_DIRECTORIES: [&str; 2] = [
    "crates/test-support/catalogue/",
    "crates/typescript-guest/js/cases/",
];

/// Directories of every machine, which reveal nothing.
const COMMON: [&str; 9] = [
    "/", "/home", "/root", "/tmp", "/var", "/srv", "/opt", "/usr", "/mnt",
];

/// Builders' tools in their homes.
const TOOLS: [&str; 6] = [".cache", ".cargo", ".local", ".npm", ".pyenv", ".rustup"];

#[derive(Debug)]
pub(super) struct Private {
    directories: Vec<String>,
}

impl Private {
    /// The checkout, its parent directory unless every machine has it, and the builder's home.
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
            // Programs may name root's home, but not the builder's tools in it.
            Some(home) if is_common(home) => places.extend(TOOLS.iter().map(|tool| home.join(tool))),
            Some(home) => places.push(home.to_owned()),
            None => {}
        }
        Private {
            directories: places.iter().map(|path| path.display().to_string()).collect(),
        }
    }
}

/// Includes comments.
pub(super) fn check(file: &File, private: &Private) -> Vec<Problem> {
    let is_exempt = |directory: &&str| file.path.starts_with(*directory);
    if EXEMPT.contains(&file.path) || EXEMPT_DIRECTORIES.iter().any(is_exempt) {
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

/// Hosts of the line's addresses that are neither in [`HOSTS`] nor below one of them.
fn foreign_hosts(line: &str) -> impl Iterator<Item = &str> {
    let addresses = SCHEMES.iter().flat_map(|scheme| {
        line.match_indices(scheme)
            .map(|(at, scheme)| &line[at + scheme.len()..])
    });
    addresses
        .map(|rest| {
            let is_host = |character: char| character.is_ascii_alphanumeric() || ".-[]:".contains(character);
            let host = &rest[..rest.find(|character| !is_host(character)).unwrap_or(rest.len())];
            // Drop the port; after an address in brackets it follows the bracket.
            let port = host.rfind(':').filter(|at| !host[*at..].contains(']'));
            host[..port.unwrap_or(host.len())].trim_end_matches('.')
        })
        // A single word is a local name; no dot means that the host is assembled elsewhere.
        .filter(|host| host.contains('.') && !is_allowed(host))
}

/// Private addresses belong to no host that all machines can reach.
fn is_allowed(host: &str) -> bool {
    let address = host.parse::<Ipv4Addr>();
    if address.is_ok_and(|address| address.is_private() || address.is_link_local()) {
        return true;
    }
    HOSTS.iter().any(|allowed| {
        host.strip_suffix(allowed)
            .is_some_and(|above| above.is_empty() || above.ends_with('.'))
    })
}

/// Whether the line names something in the directory, not just a longer path with the same ending.
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
    fn directories_of_every_machine_pass() {
        let private = Private::of(Path::new("/opt/codeyard"), Some(Path::new("/root")));
        let count = |text: &str| check(&File { path: "a.rs", text }, &private).len();
        assert_eq!(count("open('/root/x', 'w')\n/opt/other/x\n"), 0);
        assert_eq!(count(&format!("/root/{}/bin/cargo\n", TOOLS[1])), 1);
        assert_eq!(count("/opt/codeyard/x\n"), 1);
    }
}
