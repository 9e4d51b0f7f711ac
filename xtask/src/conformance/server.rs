//! The server's scenarios: the surface `standard` in front of the suite's prescribed server, over
//! HTTP, the suite's only transport.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde_json::json;

use super::serving::Serving;
use super::suite::{REVISIONS, Suite};
use crate::tasks::{say, setup};
use crate::{layout, run};

/// Scenarios that cannot pass across revisions (docs/contributing/conformance.md): the client's
/// revision, the server's, the scenarios.
const ACROSS: [(&str, &str, &[&str]); 2] = [
    (
        "2025-11-25",
        "2026-07-28",
        &["resources-subscribe", "resources-unsubscribe"],
    ),
    (
        "2026-07-28",
        "2025-11-25",
        &[
            "server-stateless",
            "input-required-result-basic-elicitation",
            "input-required-result-multiple-input-requests",
        ],
    ),
];

/// Selects scenarios of the server.
#[derive(Debug, Args)]
pub struct Server {
    /// Only this scenario, such as tools-call-elicitation.
    #[arg(long)]
    scenario: Option<String>,
}

/// Runs each revision's requirements in front of a server of each revision. Fails if a scored scenario fails that
/// could pass.
pub fn run(server: &Server) -> Result<()> {
    let suite = Suite::install()?;
    run::visible(setup::cargo().args([
        "build",
        "--locked",
        "--package=codeyard",
        "--package=test-support",
        "--bins",
    ]))?;
    let mut summaries = Vec::new();
    let mut failed = Vec::new();
    for client in REVISIONS {
        for upstream in REVISIONS {
            let served = serve(upstream)?;
            let mut arguments = vec!["server", "--url", &served.url];
            match &server.scenario {
                Some(scenario) => arguments.extend(["--scenario", scenario, "--spec-version", client]),
                None => arguments.extend(["--requirements", client]),
            }
            let score = suite.run(&arguments, &format!("server-{client}-{upstream}"))?;
            summaries.push(format!(
                "client of {client}, server of {upstream}: {}",
                score.summary()
            ));
            let unexpected = score
                .failed
                .iter()
                .filter(|scenario| !cannot_pass(client, upstream, scenario));
            failed.extend(unexpected.map(|scenario| format!("{client} over {upstream} {scenario}")));
        }
    }
    if server.scenario.is_none() {
        say(&summaries.join("\n"));
    }
    match failed.as_slice() {
        [] => Ok(()),
        failed => bail!("failed scenarios: {}", failed.join(", ")),
    }
}

fn cannot_pass(client: &str, upstream: &str, scenario: &str) -> bool {
    ACROSS
        .iter()
        .any(|(of, over, scenarios)| *of == client && *over == upstream && scenarios.contains(&scenario))
}

/// Starts codeyard with a new installation that has one server of this revision.
fn serve(upstream: &str) -> Result<Serving> {
    let home = installation(upstream)?;
    let mut command = Command::new(layout::codeyard());
    command
        .args(["mcp", "--surface", "standard", "--listen", "0", "--data"])
        .arg(home.join("data"))
        .env("HOME", &home)
        .env("XDG_CONFIG_HOME", home.join("config"))
        .env("XDG_DATA_HOME", home.join("data"));
    Serving::start(&mut command)
}

fn installation(upstream: &str) -> Result<PathBuf> {
    let home = layout::target().join("conformance/home");
    if home.exists() {
        fs::remove_dir_all(&home).context("the last run's installation")?;
    }
    let configuration = home.join("config/codeyard");
    fs::create_dir_all(&configuration).context("the installation")?;
    let program = layout::target().join("debug/stub-server");
    let fixture = json!({"command": program, "args": ["conformance", "--era", upstream]});
    let servers = json!({"mcpServers": {"fixture": fixture}});
    fs::write(configuration.join("mcp.json"), servers.to_string()).context("mcp.json")?;
    Ok(home)
}
