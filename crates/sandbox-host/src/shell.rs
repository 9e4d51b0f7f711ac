//! The machine's bash, and the programs that codeyard adds to the machine's.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::child;

/// Paths of bash inside every session.
const PATHS: [&str; 3] = ["/usr/bin/bash", "/bin/bash", "/usr/local/bin/bash"];
/// Directories of the machine's programs inside every session.
const PROGRAM_DIRECTORIES: [&str; 2] = ["/usr/bin", "/bin"];
/// Oldest version with the features that the guest's files use.
const OLDEST: (u32, u32) = (4, 4);
const TIMEOUT: Duration = Duration::from_secs(10);

/// Names and files of this program that shells need.
#[derive(Debug, Clone, Default)]
pub struct ShellFiles {
    /// Name and text of the files that bash reads first.
    pub files: Vec<(&'static str, &'static str)>,
    /// Names by which shells execute this program.
    pub programs: Vec<&'static str>,
}

/// The bash of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bash {
    /// The path on the host and in sessions.
    pub path: PathBuf,
    /// Such as `5.2.15`.
    pub version: String,
}

/// The machine has no bash that sessions can use.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NoShell {
    /// Bash is missing, or no session can see it.
    #[error("programs in the language shell need bash: there is none at {}; install it", PATHS.join(", "))]
    Missing,
    /// A version without features that the guest needs.
    #[error("{}: bash {version} is too old; install bash {}.{} or newer", .path.display(), OLDEST.0, OLDEST.1)]
    Old {
        /// Its path.
        path: PathBuf,
        /// As bash reports it.
        version: String,
    },
}

/// Finds the bash of this machine. Blocks.
///
/// # Errors
/// If no bash is usable in sessions.
pub fn find() -> Result<Bash, NoShell> {
    let path = PATHS.iter().map(PathBuf::from).find(|path| path.is_file());
    let path = path.ok_or(NoShell::Missing)?;
    let asked = child::ask(&path, &["--norc", "-c", "echo $BASH_VERSION"], TIMEOUT);
    let version = asked.map(|answer| String::from_utf8_lossy(&answer.stdout).trim().to_owned());
    let version = version.unwrap_or_default();
    match numbers(&version).is_some_and(|found| found >= OLDEST) {
        true => Ok(Bash {
            path,
            version: short(&version),
        }),
        false => Err(NoShell::Old { path, version }),
    }
}

/// The version number in `5.2.15(1)-release`.
fn short(version: &str) -> String {
    let end = version.find(|c: char| !c.is_ascii_digit() && c != '.');
    version[..end.unwrap_or(version.len())].to_owned()
}

fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

impl Bash {
    /// The guest's settings: bash, and the directories of its files and programs.
    pub fn settings(&self, files: &Path, programs: &Path) -> Value {
        json!({"bash": self.path, "version": self.version, "files": files, "programs": programs})
    }
}

impl ShellFiles {
    /// Programs that the machine lacks, and the programs that exist only in codeyard.
    pub fn missing_programs(&self) -> impl Iterator<Item = &'static str> {
        let has = |name: &str| {
            PROGRAM_DIRECTORIES
                .iter()
                .any(|directory| Path::new(directory).join(name).exists())
        };
        self.programs
            .iter()
            .copied()
            .filter(move |name| *name == "mcp" || !has(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let check = |version, expected: (&str, Option<(u32, u32)>)| {
            assert_eq!((short(version).as_str(), numbers(version)), expected);
        };
        check("5.2.15(1)-release", ("5.2.15", Some((5, 2))));
        check("4.4", ("4.4", Some((4, 4))));
        check("", ("", None));
    }
}
