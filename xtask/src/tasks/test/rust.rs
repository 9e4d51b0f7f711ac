//! Runs all Rust tests of the workspace, by nextest if it is installed.

use std::ffi::OsString;
use std::num::NonZero;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::counts::Counts;
use super::{programs, slowest};
use crate::tasks::{say, setup};
use crate::{layout, run};

/// The tests that remove guards of the sandbox, in a build that can.
const WEAKENED: [&str; 6] = [
    "--package",
    "sandbox-process",
    "--features",
    "removable-guards",
    "--test",
    "weakened",
];

/// Runs every test whose name contains the filter.
pub fn run(filter: Option<&str>) -> Result<Counts> {
    test(&["--workspace", "--tests"], filter)
}

/// Shows that the sandbox's probes can fail: removes guards, in a separate build.
pub fn weakened(filter: Option<&str>) -> Result<Counts> {
    test(&WEAKENED, filter)
}

/// Runs the tests of these packages whose name contains the filter.
fn test(packages: &[&str], filter: Option<&str>) -> Result<Counts> {
    if run::succeeds("cargo", &["nextest", "--version"]) {
        return with_nextest(packages, filter);
    }
    let mut counts = Vec::new();
    for program in programs::built(packages)? {
        say(&program.executable.display().to_string());
        let mut command = Command::new(&program.executable);
        program.surround(&mut command);
        counts.push(programs::run(command, filter.as_slice())?);
    }
    Ok(counts.into_iter().sum())
}

fn with_nextest(packages: &[&str], filter: Option<&str>) -> Result<Counts> {
    let mut command = setup::cargo();
    let threads = format!("--test-threads={}", threads());
    command
        .args(["nextest", "run", "--locked", "--no-fail-fast", "--no-tests=pass"])
        .arg(threads)
        .args(packages)
        .args(filter);
    let ran = run::watched(with_places(&mut command))?;
    slowest::print(&ran.lines);
    Ok(Counts::of_nextest(&ran.lines).with_end(ran.success))
}

/// Concurrent tests: two for each processor, because many wait for a timeout.
pub fn threads() -> usize {
    2 * std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Builds and runs these end-to-end tests, with this much work instead of the suite's.
pub fn long_form(tests: &str, variable: &str, number: u64) -> Result<()> {
    setup::build_codeyard()?;
    let mut command = setup::cargo();
    command
        .args(["test", "--locked", "--package", "codeyard", "--test", "e2e"])
        .args(["--", "--nocapture", "--test-threads=1", tests])
        .env(variable, number.to_string());
    run::visible(with_places(&mut command))
}

/// Sets the variables by which tests find installed files.
pub fn with_places(command: &mut Command) -> &mut Command {
    if let Some(path) = path() {
        command.env("PATH", path);
    }
    command
        .env("CODEYARD_BIN", layout::codeyard())
        .env("CODEYARD_TEST_ENV", layout::data())
        .env("CODEYARD_UPSTREAMS", layout::upstreams())
        .env("CODEYARD_CHECKERS", layout::checkers())
        .env("CODEYARD_CLIENTS", layout::clients())
}

/// The search path with the real Python interpreter's directory first. Version managers' shell scripts are slower
/// than many a test.
pub fn path() -> Option<OsString> {
    let program = "import os, sys; print(os.path.dirname(os.path.realpath(sys.executable)))";
    let directory = run::printed(Command::new("python3").args(["-c", program])).ok()?;
    let mut directories = vec![PathBuf::from(directory.trim())];
    directories.extend(std::env::split_paths(&std::env::var_os("PATH")?));
    std::env::join_paths(directories).ok()
}
