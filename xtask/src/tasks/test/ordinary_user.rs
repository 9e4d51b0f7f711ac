//! Runs the sandbox's tests once more as a user without any right, because root and ordinary users get different walls.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::counts::Counts;
use super::rust::with_places;
use crate::tasks::{say, setup};
use crate::{layout, run};

/// A user id that Debian gives to nobody: below the dynamic ones, above those of packages, without a subordinate range.
const USER: u32 = 58_471;

/// Crates whose tests start guests; of `codeyard` only those that start the whole program.
const PACKAGES: [(&str, &[&str]); 4] = [
    ("jail", &["lib", "test"]),
    ("sandbox-process", &["lib", "test"]),
    ("sandbox-landlock", &["lib"]),
    ("codeyard", &["test"]),
];

/// A test program and the crate it belongs to.
struct TestBinary {
    executable: PathBuf,
    package: PathBuf,
}

/// Runs the test programs one after the other.
pub fn run(filter: Option<&str>) -> Result<Counts> {
    setup::environment(Some(setup::PLAIN_PATH))?;
    let home = tempfile::Builder::new()
        .prefix("codeyard-user-")
        .tempdir()
        .context("a home for the ordinary user")?;
    // The environment is shared, the rest of a data directory must be the user's own.
    fs::create_dir(home.path().join("codeyard"))?;
    symlink(layout::data().join("python"), home.path().join("codeyard/python"))?;
    run::visible(
        Command::new("chown")
            .args(["-R", "--no-dereference"])
            .arg(format!("{USER}:{USER}"))
            .arg(home.path()),
    )?;
    let mut counts = Vec::new();
    for binary in test_binaries()? {
        say(&format!("as user {USER}: {}", binary.executable.display()));
        let ran = run::watched(command(&binary, home.path(), filter).arg("--test-threads=2"))?;
        counts.push(Counts::of_libtest(&ran.lines).with_end(ran.success));
    }
    Ok(counts.into_iter().sum())
}

/// What cargo has built for the tests of [`PACKAGES`].
fn test_binaries() -> Result<Vec<TestBinary>> {
    let mut args = vec![
        "test",
        "--locked",
        "--workspace",
        "--tests",
        "--no-run",
        "--message-format=json",
    ];
    args.push("--quiet");
    let program = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let messages = run::output(&program, &args, layout::root())?;
    Ok(messages
        .lines()
        .filter_map(|line| test_binary(&serde_json::from_str(line).ok()?))
        .collect())
}

/// Reads one of cargo's messages.
fn test_binary(message: &Value) -> Option<TestBinary> {
    let executable = PathBuf::from(message["executable"].as_str()?);
    let package = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let name = package.file_name()?.to_str()?;
    let kind = message["target"]["kind"][0].as_str()?;
    let is_test = message["profile"]["test"] == true;
    let wanted = PACKAGES
        .iter()
        .any(|(package, kinds)| *package == name && kinds.contains(&kind));
    (is_test && wanted).then_some(TestBinary { executable, package })
}

/// The command that gives up every right, and what the user sees of the environment.
fn command(binary: &TestBinary, home: &Path, filter: Option<&str>) -> Command {
    let mut command = Command::new("bash");
    command
        .arg(layout::root().join("xtask/as-ordinary-user.sh"))
        .arg(USER.to_string())
        .arg(layout::root());
    command
        .arg(&binary.executable)
        .args(filter)
        .current_dir(&binary.package);
    command
        .env_clear()
        .env("PATH", setup::PLAIN_PATH)
        .env("LANG", "C.UTF-8")
        .env("HOME", home)
        .env("TMPDIR", home);
    command
        .env("CARGO_MANIFEST_DIR", &binary.package)
        .env("INSTA_WORKSPACE_ROOT", layout::root());
    command.env("INSTA_UPDATE", "no");
    with_places(&mut command).env("CODEYARD_TEST_ENV", home.join("codeyard"));
    command
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_programs_that_start_guests_are_taken() {
        let message = |package: &str, kind: &str, test: bool| {
            json!({
                "reason": "compiler-artifact",
                "manifest_path": format!("/w/crates/{package}/Cargo.toml"),
                "target": {"kind": [kind]},
                "profile": {"test": test},
                "executable": "/w/target/debug/deps/x",
            })
        };
        let taken = |package, kind, test| test_binary(&message(package, kind, test)).is_some();
        assert!(taken("jail", "lib", true) && taken("codeyard", "test", true));
        assert!(
            !taken("codeyard", "bin", true) && !taken("jail", "bin", false) && !taken("types", "lib", true)
        );
    }
}
