//! The server's scenarios: the surface `standard` in front of the suite's prescribed server, behind HTTP, which is all that
//! the suite speaks.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde_json::json;

use super::suite::{REVISIONS, Suite};
use crate::tasks::{say, setup};
use crate::{layout, run};

/// Scenarios that cannot pass when client and server are of different revisions, as docs/contributing/conformance.md says: the client's
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

/// Which of the server's scenarios.
#[derive(Debug, Args)]
pub struct Server {
    /// Only this scenario, such as tools-call-elicitation.
    #[arg(long)]
    scenario: Option<String>,
}

/// Runs what each revision requires of a server in front of a server of each revision; fails if a scenario does that counts
/// and is not among those that cannot pass.
pub fn run(server: &Server) -> Result<()> {
    let suite = Suite::install()?;
    run::visible(setup::cargo().args([
        "build",
        "--locked",
        "--package=codeyard",
        "--package=test-support",
        "--bins",
    ]))?;
    let mut told = Vec::new();
    let mut failed = Vec::new();
    for client in REVISIONS {
        for upstream in REVISIONS {
            let front = Front::start(upstream)?;
            let mut arguments = vec!["server", "--url", &front.url];
            match &server.scenario {
                Some(scenario) => arguments.extend(["--scenario", scenario, "--spec-version", client]),
                None => arguments.extend(["--requirements", client]),
            }
            let score = suite.run(&arguments, &format!("server-{client}-{upstream}"))?;
            told.push(format!(
                "client of {client}, server of {upstream}: {}",
                score.told()
            ));
            let unexpected = score
                .failed
                .iter()
                .filter(|scenario| !cannot_pass(client, upstream, scenario));
            failed.extend(unexpected.map(|scenario| format!("{client} over {upstream} {scenario}")));
        }
    }
    if server.scenario.is_none() {
        say(&told.join("\n"));
    }
    match failed.as_slice() {
        [] => Ok(()),
        failed => bail!("these scenarios fail: {}", failed.join(", ")),
    }
}

fn cannot_pass(client: &str, upstream: &str, scenario: &str) -> bool {
    ACROSS
        .iter()
        .any(|(of, over, scenarios)| *of == client && *over == upstream && scenarios.contains(&scenario))
}

/// HTTP in front of `codeyard mcp`. Its end ends all that is behind it.
struct Front {
    child: Child,
    url: String,
}

impl Front {
    /// Starts it with an empty installation, in which there is one server of that revision.
    fn start(upstream: &str) -> Result<Front> {
        let home = installation(upstream)?;
        let binaries = layout::target().join("debug");
        let mut command = Command::new(binaries.join("http-front"));
        command
            .arg(layout::codeyard())
            .args(["mcp", "--surface", "standard", "--data"])
            .arg(home.join("data"))
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_DATA_HOME", home.join("data"));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot run http-front")?;
        let stdout = child.stdout.take().context("the address of http-front")?;
        let mut url = String::new();
        BufReader::new(stdout).read_line(&mut url)?;
        let url = url.trim().to_owned();
        Ok(Front { child, url })
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        // It ends with its input, and what cannot be waited for has ended.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
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
