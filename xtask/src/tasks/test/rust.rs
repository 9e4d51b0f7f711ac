//! Runs all Rust tests of the workspace, by nextest where it is installed.

use std::process::Command;

use anyhow::Result;

use super::counts::Counts;
use crate::tasks::setup;
use crate::{layout, run};

/// Runs every test whose name contains the filter.
pub fn run(filter: Option<&str>) -> Result<Counts> {
    let with_nextest = run::succeeds("cargo", &["nextest", "--version"]);
    let mut command = setup::cargo();
    if with_nextest {
        command.args([
            "nextest",
            "run",
            "--workspace",
            "--locked",
            "--no-fail-fast",
            "--no-tests=pass",
        ]);
    } else {
        command.args(["test", "--workspace", "--tests", "--locked", "--no-fail-fast"]);
    }
    command.args(filter);
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
}
