//! The gateway's REST: requests that schemathesis derives from the OpenAPI document, against `codeyard serve`.
//!
//! schemathesis sends valid and invalid requests. Each answer must be declared in the document, and none may be a
//! server error.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use clap::Args;

use super::serving::Serving;
use crate::tasks::{say, setup};
use crate::{layout, run};

const PACKAGE: &str = "schemathesis==4.32.5";

/// The checks of each answer.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
    response_headers_conformance,response_schema_conformance,unsupported_method,ignored_auth";

/// The number of requests, and their seed.
#[derive(Debug, Args)]
pub struct Rest {
    /// Most random requests for each operation.
    #[arg(long, value_name = "N")]
    examples: Option<u32>,
    /// Repeats the requests of this seed.
    #[arg(long, value_name = "SEED")]
    seed: Option<String>,
}

/// Fails on an undeclared answer or a server error.
pub fn run(rest: &Rest) -> Result<()> {
    let program = install()?;
    setup::build_codeyard()?;
    let gateway = Gateway::start()?;
    gateway.fill()?;
    let document = layout::target().join("conformance-rest/openapi.json");
    fs::write(&document, gateway.get("/openapi.json")?).context("the OpenAPI document")?;
    let mut command = Command::new(program);
    // schemathesis keeps a cache in its current directory.
    command
        .current_dir(layout::target().join("conformance-rest"))
        .arg("--config-file")
        .arg(layout::root().join("xtask/conformance-rest.toml"))
        .args(["--no-color", "run"])
        .arg(&document)
        .args(["--url", &gateway.serving.url, "--checks", CHECKS])
        .args(["--header", &gateway.authorization()]);
    if let Some(examples) = rest.examples {
        command.args(["--max-examples", &examples.to_string()]);
    }
    if let Some(seed) = &rest.seed {
        command.args(["--seed", seed]);
    }
    run::visible(&mut command)
}

/// Installs schemathesis below `target/`; returns its program.
fn install() -> Result<PathBuf> {
    setup::packages(setup::FOR_REST)?;
    let directory = layout::target().join("schemathesis");
    let stamp = directory.join(".installed");
    if !fs::read_to_string(&stamp).is_ok_and(|installed| installed == PACKAGE) {
        say("installing schemathesis (once)");
        run::visible(
            Command::new("python3")
                .args(["-m", "venv", "--clear"])
                .arg(&directory),
        )?;
        run::visible(Command::new(directory.join("bin/pip")).args([
            "install",
            "--quiet",
            "--disable-pip-version-check",
            PACKAGE,
        ]))
        .context("installing schemathesis needs the network")?;
        fs::write(&stamp, PACKAGE).context("the stamp of schemathesis")?;
    }
    Ok(directory.join("bin/schemathesis"))
}

/// `codeyard serve` on a new data directory, with a token.
struct Gateway {
    serving: Serving,
    token: String,
}

impl Gateway {
    fn start() -> Result<Gateway> {
        let home = layout::target().join("conformance-rest");
        if home.exists() {
            fs::remove_dir_all(&home).context("the last run's data")?;
        }
        fs::create_dir_all(&home).context("the directory of the data")?;
        let data = home.join("yard");
        let serving = Serving::start(&mut command(&home, &data, &["serve", "--listen", "0"]))?;
        let create = [
            "token",
            "create",
            "--user",
            "me@example.com",
            "--role",
            "platform_admin",
        ];
        let token = run::printed(&mut command(&home, &data, &create))?
            .trim()
            .to_owned();
        Ok(Gateway { serving, token })
    }

    /// Creates the objects that `xtask/conformance-rest.toml` names.
    fn fill(&self) -> Result<()> {
        let objects = [
            (
                "/servers",
                r#"{"id": "lab", "name": "lab", "type": "code_execution", "sandbox_policy": {"runtime": "python"}}"#,
            ),
            (
                "/servers",
                r#"{"id": "plain", "name": "plain", "type": "standard"}"#,
            ),
            (
                "/upstreams",
                r#"{"name": "far", "url": "http://127.0.0.1:9/mcp"}"#,
            ),
            ("/teams", r#"{"id": "payments", "name": "payments"}"#),
            ("/users", r#"{"user": "ann@example.com", "role": "developer"}"#),
        ];
        for (path, body) in objects {
            run::printed(self.curl(path).args(["--data", body]))?;
        }
        Ok(())
    }

    fn get(&self, path: &str) -> Result<String> {
        run::printed(&mut self.curl(path))
    }

    fn curl(&self, path: &str) -> Command {
        let mut command = Command::new("curl");
        command
            .args(["--silent", "--show-error", "--fail-with-body"])
            .args(["--header", "Content-Type: application/json"])
            .args(["--header", &self.authorization()])
            .arg(format!("{}{path}", self.serving.url));
        command
    }

    fn authorization(&self) -> String {
        format!("Authorization: Bearer {}", self.token)
    }
}

/// Codeyard without the configuration of this machine's user.
fn command(home: &Path, data: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(layout::codeyard());
    command
        .args(arguments)
        .arg("--data")
        .arg(data)
        .env("HOME", home)
        .env("XDG_CONFIG_HOME", home.join("config"))
        .env("XDG_DATA_HOME", home.join("share"));
    command
}
