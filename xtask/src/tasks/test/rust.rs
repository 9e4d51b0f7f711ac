//! Runs all Rust tests of the workspace, by nextest where it is installed.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

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
    let own = tempfile::Builder::new()
        .prefix("codeyard-tests-")
        .tempdir()
        .context("a directory for the tests")?;
    setup::fresh_upstreams(own.path())?;
    let ran = run::watched(with_places(&mut command, own.path()))?;
    let counts = if with_nextest {
        Counts::of_nextest(&ran.lines)
    } else {
        Counts::of_libtest(&ran.lines)
    };
    Ok(counts.with_end(ran.success))
}

/// Tells the tests where things are; `own` holds the definitions of the upstream servers.
pub fn with_places<'a>(command: &'a mut Command, own: &Path) -> &'a mut Command {
    command
        .env("CODEYARD_BIN", layout::codeyard())
        .env("CODEYARD_TEST_ENV", layout::data())
        .env("CODEYARD_UPSTREAMS", own.join("mcp.json"))
}
