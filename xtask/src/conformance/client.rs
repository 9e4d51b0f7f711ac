//! The client's scenarios, run by a small program around the hub
//! (`crates/upstream/examples/conformance_client.rs`).

use anyhow::{Result, bail};
use clap::Args;

use super::suite::{REVISIONS, Suite};
use crate::tasks::{say, setup};
use crate::{layout, run};

/// The program that the suite starts for each scenario.
const DRIVER: &str = "conformance_client";

/// Selects scenarios of the client.
#[derive(Debug, Args)]
pub struct Client {
    /// Only this scenario, such as auth/basic-cimd.
    #[arg(long)]
    scenario: Option<String>,
}

/// Runs each revision's requirements; fails if a scored scenario fails.
pub fn run(client: &Client) -> Result<()> {
    let suite = Suite::install()?;
    run::visible(setup::cargo().args(["build", "--locked", "--package=upstream", "--example", DRIVER]))?;
    let driver = layout::target().join("debug/examples").join(DRIVER);
    let driver = driver.to_string_lossy();
    let mut summaries = Vec::new();
    let mut failed = Vec::new();
    for revision in REVISIONS {
        let mut arguments = vec!["client", "--command", &driver];
        match &client.scenario {
            Some(scenario) => arguments.extend(["--scenario", scenario, "--spec-version", revision]),
            None => arguments.extend(["--requirements", revision]),
        }
        let score = suite.run(&arguments, &format!("client-{revision}"))?;
        summaries.push(format!("client, {revision}: {}", score.summary()));
        failed.extend(
            score
                .failed
                .iter()
                .map(|scenario| format!("{revision} {scenario}")),
        );
    }
    if client.scenario.is_none() {
        say(&summaries.join("\n"));
    }
    match failed.as_slice() {
        [] => Ok(()),
        failed => bail!("failed scenarios: {}", failed.join(", ")),
    }
}
