//! Builds the release profile and starts the benchmark program: `measure` and `soak`.

use std::process::Command;

use anyhow::Result;

use super::{rivals, setup};
use crate::{layout, run};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Floors, promises and rivals.
    Measure,
    /// Thousands of sessions and runs.
    Soak,
}

impl Work {
    fn name(self) -> &'static str {
        match self {
            Work::Measure => "measure",
            Work::Soak => "soak",
        }
    }
}

fn build(packages: &[&str]) -> Result<()> {
    let mut cargo = setup::cargo();
    cargo.args(["build", "--locked", "--release"]).args(packages);
    run::visible(&mut cargo)
}

pub fn run(work: Work, arguments: &[String]) -> Result<()> {
    setup::packages(setup::FOR_DEMO)?;
    setup::build_codeyard()?;
    setup::environment(None)?;
    build(&["--package=codeyard", "--package=test-support"])?;
    // A separate build, because a release build of codeyard refuses this feature.
    build(&["--package=bench", "--features=unconfined-guests"])?;
    let release = layout::target().join("release");
    let mut command = Command::new(release.join("bench"));
    command.arg(work.name()).args(arguments);
    command.arg("--data").arg(layout::data());
    command.env("CODEYARD_BIN", release.join("codeyard"));
    if work == Work::Measure {
        // The machine's temporary directory may be on another file system, or slow at creating directories.
        let temporary = layout::target().join("tmp");
        std::fs::create_dir_all(&temporary)?;
        command.env("TMPDIR", temporary);
        rivals::install(&rivals::wanted(arguments));
        command.arg("--rivals").arg(layout::rivals());
    }
    run::visible(&mut command)
}
