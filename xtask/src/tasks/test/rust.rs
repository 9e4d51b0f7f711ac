//! Runs all Rust tests of the workspace, by nextest where it is installed.

use std::process::Command;

use anyhow::Result;

use super::counts::Counts;
use crate::tasks::setup;
use crate::{layout, run};

/// The tests that leave guards of the sandbox away, in a build that can.
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
    test(&["--workspace"], filter)
}

/// Shows that the probes of the sandbox can fail: leaves guards away, in a build of its own.
pub fn weakened(filter: Option<&str>) -> Result<Counts> {
    test(&WEAKENED, filter)
}

/// Runs the tests of these packages whose name contains the filter.
fn test(packages: &[&str], filter: Option<&str>) -> Result<Counts> {
    let with_nextest = run::succeeds("cargo", &["nextest", "--version"]);
    let mut command = setup::cargo();
    if with_nextest {
        command.args(["nextest", "run", "--locked", "--no-fail-fast", "--no-tests=pass"]);
    } else {
        command.args(["test", "--tests", "--locked", "--no-fail-fast"]);
    }
    command.args(packages).args(filter);
    let ran = run::watched(with_places(&mut command))?;
    let counts = if with_nextest {
        Counts::of_nextest(&ran.lines)
    } else {
        Counts::of_libtest(&ran.lines)
    };
    Ok(counts.with_end(ran.success))
}

/// Tells the tests where things are.
pub fn with_places(command: &mut Command) -> &mut Command {
    command
        .env("CODEYARD_BIN", layout::codeyard())
        .env("CODEYARD_TEST_ENV", layout::data())
        .env("CODEYARD_UPSTREAMS", layout::upstreams())
        .env("CODEYARD_CHECKERS", layout::checkers())
}
