//! Installs Codeyard's rivals for the benchmarks below `target/`, through the clients of the
//! package registries.
//!
//! A rival that cannot be installed does not stop the others: its reason is recorded next to it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::{say, setup};
use crate::{layout, run};

/// The parts of the benchmarks that compare with rivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RivalPart {
    /// Alternatives that run programs.
    Programs,
    /// Gateways that pass requests through.
    Gateways,
}

/// Debian packages, each with its program.
const PACKAGES: [(&str, &str); 4] = [
    ("bubblewrap", "bwrap"),
    ("runc", "runc"),
    ("crun", "crun"),
    ("podman", "podman"),
];

struct Rival {
    name: &'static str,
    part: RivalPart,
    install: fn(&Path) -> Result<()>,
}

const RIVALS: [Rival; 5] = [
    Rival {
        name: "monty",
        part: RivalPart::Programs,
        install: |directory| python(directory, &["fastmcp==4.1.2", "pydantic-monty==1.4.0"]),
    },
    Rival {
        name: "gway",
        part: RivalPart::Programs,
        install: |directory| python(directory, &["mcp-gway==4.10.2"]),
    },
    Rival {
        name: "utcp",
        part: RivalPart::Programs,
        install: |directory| {
            node(
                directory,
                &[
                    "node@22.23.3",
                    "@utcp/code-mode@1.2.12",
                    "@utcp/mcp@1.1.3",
                    "@utcp/sdk@1.1.2",
                ],
            )
        },
    },
    Rival {
        name: "contextforge",
        part: RivalPart::Gateways,
        install: |directory| python(directory, &["mcp-contextforge-gateway==1.0.7.post20260921"]),
    },
    Rival {
        name: "mcp-proxy",
        part: RivalPart::Gateways,
        install: |directory| program(directory, "mcp-proxy", "0.6.0"),
    },
];

/// Options that exclude the rivals.
const ONE_SUBJECT: [&str; 2] = ["--quick", "--before"];

/// The parts with rivals that these arguments request, by name or with all others.
pub fn wanted(arguments: &[String]) -> Vec<RivalPart> {
    // The word after an option is its value.
    let mut words = arguments.iter().peekable();
    let mut parts = Vec::new();
    while let Some(word) = words.next() {
        if word.starts_with("--") {
            if ONE_SUBJECT.contains(&word.split('=').next().unwrap_or(word)) {
                return Vec::new();
            }
            if !word.contains('=') {
                words.next();
            }
        } else {
            parts.push(word.as_str());
        }
    }
    let all = [RivalPart::Programs, RivalPart::Gateways].into_iter();
    all.filter(|part| parts.is_empty() || parts.contains(&part.name()))
        .collect()
}

/// Installs the rivals of these parts.
pub fn install(parts: &[RivalPart]) {
    if parts.contains(&RivalPart::Programs)
        && let Err(error) = packages()
    {
        say(&format!("the benchmarks continue without some rivals: {error:#}"));
    }
    for rival in RIVALS.iter().filter(|rival| parts.contains(&rival.part)) {
        let directory = layout::rivals().join(rival.name);
        let stamp = directory.join(".installed");
        if stamp.exists() {
            continue;
        }
        say(&format!("installing {} to compare with", rival.name));
        let installed = fs::create_dir_all(&directory)
            .context("its directory")
            .and_then(|()| (rival.install)(&directory))
            .and_then(|()| fs::write(&stamp, "").context("its stamp"));
        let note = layout::rivals().join(format!("{}.skipped", rival.name));
        let noted = match installed {
            Ok(()) if note.exists() => fs::remove_file(note),
            Ok(()) => Ok(()),
            Err(error) => fs::write(note, format!("it could not be installed: {error:#}")),
        };
        if let Err(error) = noted {
            say(&format!("{}: {error}", rival.name));
        }
    }
}

fn packages() -> Result<()> {
    let missing: Vec<&str> = PACKAGES
        .iter()
        .filter(|(_, program)| !run::succeeds(program, &["--version"]))
        .map(|(package, _)| *package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    if !setup::is_root() {
        bail!(
            "run as root: apt-get install -y --no-install-recommends {}",
            missing.join(" ")
        );
    }
    run::visible(Command::new("apt-get").args(["update", "-qq"]))?;
    run::visible(
        Command::new("apt-get")
            .args(["install", "-y", "-qq", "--no-install-recommends"])
            .args(missing)
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )
}

/// Makes an environment of the newest installed Python, because Debian's is too old for some rivals.
fn python(directory: &Path, packages: &[&str]) -> Result<()> {
    let works =
        |python: &&PathBuf| run::succeeds(&python.to_string_lossy(), &["-I", "-c", "import venv, ensurepip"]);
    let candidates = pythons();
    let python = candidates.iter().find(works);
    let python = python.context("no python3 with venv found")?;
    quietly(
        Command::new(python)
            .args(["-m", "venv", "--clear"])
            .arg(directory),
    )?;
    quietly(
        Command::new(directory.join("bin/pip"))
            .args(["install", "-q", "--disable-pip-version-check"])
            .args(packages),
    )
}

/// Interpreters on the search path and in pyenv, newest first.
fn pythons() -> Vec<PathBuf> {
    let versions = (10..=14).rev().map(|minor| format!("python3.{minor}"));
    let kept = std::env::home_dir().unwrap_or_default().join(".pyenv/versions");
    let kept: Vec<PathBuf> = fs::read_dir(kept)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    let of_version = |name: String| {
        let elsewhere = kept.iter().map(|version| version.join("bin").join(&name));
        let elsewhere: Vec<PathBuf> = elsewhere.filter(|path| path.exists()).collect();
        [PathBuf::from(name)].into_iter().chain(elsewhere)
    };
    versions.flat_map(of_version).chain(["python3".into()]).collect()
}

fn node(directory: &Path, packages: &[&str]) -> Result<()> {
    fs::write(directory.join("package.json"), "{\"private\": true}\n")?;
    quietly(
        Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
            .args(packages)
            .current_dir(directory),
    )
}

/// Builds a program from the registry of crates. Its objects are shared with later versions.
fn program(directory: &Path, name: &str, version: &str) -> Result<()> {
    let mut cargo = Command::new("cargo");
    cargo.args([
        "install",
        "--locked",
        "--quiet",
        name,
        "--version",
        version,
        "--root",
    ]);
    cargo
        .arg(directory)
        .env("CARGO_TARGET_DIR", layout::rivals().join("build"));
    quietly(&mut cargo)
}

/// Runs a command; an error contains its last line of output.
fn quietly(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot run {program}"))?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        bail!(
            "{program}: {}",
            complaint.trim().lines().last().unwrap_or_default()
        );
    }
    Ok(())
}

// === impl RivalPart ===

impl RivalPart {
    /// The name of the part in the benchmarks.
    fn name(self) -> &'static str {
        match self {
            RivalPart::Programs => "rivals",
            RivalPart::Gateways => "gateways",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RivalPart::{Gateways, Programs};
    use super::{RivalPart, wanted};

    #[test]
    fn rivals_are_wanted_with_all_parts_or_by_name() {
        let check = |arguments: &[&str], expected: &[RivalPart]| {
            let owned: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(wanted(&owned), expected, "{arguments:?}");
        };
        check(&[], &[Programs, Gateways]);
        check(&["--json", "rivals.json"], &[Programs, Gateways]);
        check(&["fresh"], &[]);
        check(&["--quick", "--strict"], &[]);
        check(&["--before", "codeyard"], &[]);
        check(&["fresh", "--json", "rivals"], &[]);
        check(&["gateways"], &[Gateways]);
        check(&["--samples=3", "fresh", "rivals"], &[Programs]);
    }
}
