//! Runs the sandbox's tests again as an unprivileged user, because the sandbox differs between root and ordinary
//! users.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::counts::Counts;
use super::programs::{self, TestProgram};
use super::rust;
use crate::tasks::{say, setup};
use crate::{layout, run};

/// A user id that Debian leaves unused: below the dynamic ids, above those of packages, without a subordinate range.
pub const USER: u32 = 58_471;

/// Crates whose tests depend on the user, with the kinds of their test programs.
const PACKAGES: [(&str, &[&str]); 6] = [
    ("environment", &["lib"]),
    ("jail", &["lib", "test"]),
    ("sandbox-host", &["lib"]),
    ("sandbox-process", &["lib", "test"]),
    ("sandbox-landlock", &["lib"]),
    (END_TO_END, &["test"]),
];

/// The crate whose tests start the whole program.
const END_TO_END: &str = "codeyard";

/// Its tests that depend on the user: confinement, limits, owners and modes of files.
const MODULES: [&str; 21] = [
    "acceptance::confinement::",
    "acceptance::limits::",
    "adopt::files::",
    "adopt::others::",
    "attack::",
    "bridge::confinement::",
    "bridge::limits::",
    "endings::",
    "fix::",
    "gateway::limits::",
    "hostile::",
    "http::refusals::",
    "kernels::",
    "landlock::",
    "limits::",
    "login::refusals::",
    "own_programs::",
    "shell::endings::",
    "shell::limits::",
    "typescript::",
    "workspaces::",
];

/// Parts of these modules that do not depend on the user: the host's handling of frames, a hanging folder, and
/// results of TypeScript programs.
const SKIPPED: [&str; 8] = [
    "hostile::channel::",
    "hostile::handles::",
    "hostile::numbers::",
    "typescript::blind::",
    "typescript::calls::",
    "typescript::errors::",
    "typescript::observed::",
    "workspaces::hanging::",
];

/// Runs the test programs one after the other.
pub fn run(filter: Option<&str>) -> Result<Counts> {
    setup::environment(Some(setup::PLAIN_PATH.as_ref()))?;
    let home = tempfile::Builder::new()
        .prefix("codeyard-user-")
        .tempdir()
        .context("a home for the ordinary user")?;
    // The environment is shared; the rest of the data directory must belong to the user.
    fs::create_dir(home.path().join("codeyard"))?;
    symlink(layout::data().join("python"), home.path().join("codeyard/python"))?;
    run::visible(
        Command::new("chown")
            .args(["-R", "--no-dereference"])
            .arg(format!("{USER}:{USER}"))
            .arg(home.path()),
    )?;
    let mut counts = Vec::new();
    for program in programs::built(&["--workspace", "--tests"])?
        .iter()
        .filter(|program| is_wanted(program))
    {
        let mut names = programs::listed(program)?;
        names.retain(|name| is_selected(program, name, filter));
        if names.is_empty() {
            continue;
        }
        say(&format!("as user {USER}: {}", program.executable.display()));
        let selection: Vec<&str> = names.iter().map(String::as_str).chain(["--exact"]).collect();
        counts.push(programs::run(command(program, home.path()), &selection)?);
    }
    Ok(counts.into_iter().sum())
}

fn is_wanted(program: &TestProgram) -> bool {
    PACKAGES.iter().any(|(package, kinds)| {
        program.directory.ends_with(package) && kinds.contains(&program.kind.as_str())
    })
}

/// Whether a test of a program is run, by its name.
fn is_selected(program: &TestProgram, name: &str, filter: Option<&str>) -> bool {
    let is_in = |modules: &[&str]| modules.iter().any(|module| name.starts_with(module));
    let depends_on_user = !program.directory.ends_with(END_TO_END) || (is_in(&MODULES) && !is_in(&SKIPPED));
    depends_on_user && filter.is_none_or(|filter| name.contains(filter))
}

/// The command that drops every right, and the user's view of the environment.
fn command(program: &TestProgram, home: &Path) -> Command {
    let mut command = Command::new("bash");
    command
        .arg(layout::root().join("xtask/as-ordinary-user.sh"))
        .arg(USER.to_string())
        .arg(layout::root())
        .arg(&program.executable);
    command
        .env_clear()
        .env("LANG", "C.UTF-8")
        .env("RUST_TEST_THREADS", rust::threads().to_string());
    program.surround(&mut command);
    with_home(&mut command, home);
    command
}

/// The environment variables of a user with this home.
pub fn with_home(command: &mut Command, home: &Path) {
    command
        .env("PATH", setup::PLAIN_PATH)
        .env("HOME", home)
        .env("TMPDIR", home)
        .env("CODEYARD_TEST_ENV", home.join("codeyard"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_programs_that_depend_on_the_user_are_selected() {
        let taken = |package: &str, kind: &str| {
            is_wanted(&TestProgram {
                executable: "/w/target/debug/deps/x".into(),
                directory: Path::new("/w/crates").join(package),
                kind: kind.to_owned(),
            })
        };
        assert!(taken("jail", "lib") && taken("codeyard", "test"));
        assert!(!taken("codeyard", "bin") && !taken("types", "lib"));
    }

    #[test]
    fn modules_are_whole_names() {
        let end_to_end = TestProgram {
            executable: "/w/target/debug/deps/x".into(),
            directory: "/w/crates/codeyard".into(),
            kind: "test".to_owned(),
        };
        let selected = |name, filter| is_selected(&end_to_end, name, filter);
        assert!(selected("limits::every_limit_binds", None));
        assert!(selected("limits::every_limit_binds", Some("every")));
        assert!(!selected("limits::every_limit_binds", Some("other")));
        assert!(!selected("gateway::upstream_limits::tenants_share", None));
        assert!(!selected("hostile::channel::a_flood", None));
    }

    /// An outdated filter would select nothing and pass.
    #[test]
    fn every_module_exists() {
        let tests = layout::root().join("crates/codeyard/tests/e2e");
        for module in MODULES.into_iter().chain(SKIPPED) {
            let file = tests.join(module.trim_end_matches("::").replace("::", "/"));
            assert!(file.with_extension("rs").is_file(), "{module}");
        }
    }
}
