//! The server's scenarios: the surface `standard` in front of the suite's prescribed server, over
//! HTTP, the suite's only transport.

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

/// Which of the server's scenarios.
#[derive(Debug, Args)]
pub struct Server {
    /// Only this scenario, such as tools-call-elicitation.
    #[arg(long)]
    scenario: Option<String>,
}

/// Runs each revision's requirements in front of a server of each revision; fails if a scored
/// scenario fails that could pass.
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
            let served = Served::start(upstream)?;
            let mut arguments = vec!["server", "--url", &served.url];
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

/// `codeyard mcp --listen`; its end also ends everything behind it.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    /// Starts codeyard with a new installation that has one server of this revision.
    fn start(upstream: &str) -> Result<Served> {
        let home = installation(upstream)?;
        let mut command = Command::new(layout::codeyard());
        command
            .args(["mcp", "--surface", "standard", "--listen", "0", "--data"])
            .arg(home.join("data"))
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_DATA_HOME", home.join("data"));
        let mut child = command
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot run codeyard")?;
        let mut lines = BufReader::new(child.stderr.take().context("what codeyard says")?).lines();
        let url = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| address(&line));
        // Read the later output, because a full pipe would stop the process.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| say(&line)));
        let url = url.context("codeyard said no address")?;
        Ok(Served { child, url })
    }
}

/// The address in a line like "serving the surface `standard` at http://127.0.0.1:8700/mcp".
fn address(line: &str) -> Option<String> {
    let (_, address) = line.rsplit_once(" at ")?;
    address.starts_with("http://").then(|| address.to_owned())
}

impl Drop for Served {
    fn drop(&mut self) {
        // An error means that the process has ended already.
        let _ = self.child.kill();
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
