//! Builds the release profile and hands over to the benchmark program.

use std::process::Command;

use anyhow::Result;

use super::setup;
use crate::{layout, run};

/// Runs the crate `bench` against the release binary and the managed environment.
pub fn run(arguments: &[String]) -> Result<()> {
    setup::packages(setup::FOR_DEMO)?;
    setup::build_codeyard()?;
    setup::environment(None)?;
    run::visible(setup::cargo().args([
        "build",
        "--locked",
        "--release",
        "--package=codeyard",
        "--package=bench",
    ]))?;
    let release = layout::target().join("release");
    run::visible(
        Command::new(release.join("bench"))
            .args(arguments)
            .arg("--data")
            .arg(layout::data())
            .env("CODEYARD_BIN", release.join("codeyard")),
    )
}
