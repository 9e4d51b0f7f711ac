//! Rivals that are MCP servers; a tool call runs a program.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::contender::{Class, Contender, Entry, Operation, RivalDirectory};
use crate::raw::Raw;

/// FastMCP allows 50 calls in one run.
const CALLS: u32 = 40;

/// No server keeps state between programs, so every run is a new sandbox.
pub(super) fn entries(rivals: &RivalDirectory) -> Vec<Entry> {
    let entry = |name: &str, contender| Entry {
        name: name.to_owned(),
        class: Class::Server,
        contender,
    };
    vec![
        entry("FastMCP CodeMode with Monty", code_mode(rivals)),
        entry("mcp-gway (Starlark)", gateway(rivals)),
        entry("UTCP code-mode (isolated-vm)", utcp(rivals)),
    ]
}

fn code_mode(rivals: &RivalDirectory) -> Result<Box<dyn Contender>> {
    let python = rivals.installed("monty", "bin/python")?;
    let mut command = Command::new(python);
    command
        .args(["-c", include_str!("../../rivals/code_mode.py")])
        .args(&rivals.upstream);
    Server::start(&mut command, "execute", |programs| match programs {
        Program::Nothing => "return 1 + 1".to_owned(),
        Program::Calls => {
            format!("for n in range({CALLS}):\n    r = await call_tool('echo', {{'message': 'x'}})\nreturn r")
        }
    })
}

/// The gateway starts only programs on its search path that its allow-list names.
fn gateway(rivals: &RivalDirectory) -> Result<Box<dyn Contender>> {
    let program = rivals.installed("gway", "bin/mcp-gway")?;
    let home = rivals.directory.join("gway/home");
    let upstream = Path::new(rivals.upstream.first().context("an upstream server")?);
    let name = upstream
        .file_name()
        .context("an upstream server")?
        .to_string_lossy();
    let own = std::env::var_os("PATH").unwrap_or_default();
    let directories = upstream
        .parent()
        .map(Path::to_owned)
        .into_iter()
        .chain(std::env::split_paths(&own));
    let path = std::env::join_paths(directories)?;
    let command = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).env("HOME", &home).env("PATH", &path);
        command.env("MCP_GWAY_ALLOW_LOCAL_COMMANDS", &*name);
        command
    };
    if home.exists() {
        std::fs::remove_dir_all(&home)?;
    }
    std::fs::create_dir_all(&home)?;
    let added = command(&[
        "add",
        "stub",
        "--type",
        "local",
        "--command",
        &format!("{name} stub"),
    ])
    .output()?;
    ensure!(
        added.status.success(),
        "{}",
        String::from_utf8_lossy(&added.stderr).trim()
    );
    let mut serve = command(&["serve", "--transport", "stdio", "--log-level", "error"]);
    Server::start(&mut serve, "executeToolCode", |programs| match programs {
        Program::Nothing => "result = 1 + 1".to_owned(),
        Program::Calls => format!("result = [Stub.echo(message='x') for n in range({CALLS})][0]"),
    })
}

fn utcp(rivals: &RivalDirectory) -> Result<Box<dyn Contender>> {
    let node = rivals.installed("utcp", "node_modules/node/bin/node")?;
    // The script's location decides where Node finds its libraries.
    let script = rivals.directory.join("utcp/code-mode.mjs");
    std::fs::write(&script, include_str!("../../rivals/utcp.mjs"))?;
    let mut command = Command::new(node);
    command
        .arg("--no-node-snapshot")
        .arg(script)
        .args(&rivals.upstream);
    Server::start(&mut command, "execute", |programs| match programs {
        Program::Nothing => "return 1 + 1".to_owned(),
        Program::Calls => {
            format!(
                "let r; for (let n = 0; n < {CALLS}; n++) r = rival.stub_echo({{message: 'x'}}); return r"
            )
        }
    })
}

/// A test program in the rival's own language.
enum Program {
    Nothing,
    /// `CALLS` calls of the upstream server.
    Calls,
}

struct Server {
    client: Raw,
    tool: &'static str,
    nothing: Value,
    calls: Value,
}

impl Server {
    fn start(
        command: &mut Command,
        tool: &'static str,
        program: impl Fn(Program) -> String,
    ) -> Result<Box<dyn Contender>> {
        let arguments = |kind| json!({"code": program(kind)});
        let mut server = Self {
            client: Raw::open(command)?,
            tool,
            nothing: arguments(Program::Nothing),
            calls: arguments(Program::Calls),
        };
        server.prove()?;
        Ok(Box::new(server))
    }

    /// Checks the programs' results, because a quick failure would look like speed.
    fn prove(&mut self) -> Result<()> {
        for (arguments, wanted) in [(&self.nothing, "2"), (&self.calls, "x")] {
            let (answer, _) = self.client.call(self.tool, arguments)?;
            let text = answer["content"][0]["text"].as_str().unwrap_or_default();
            let right = text.contains(wanted) && !text.contains("ERROR");
            ensure!(right, "it answered {text:?} to {arguments}");
        }
        Ok(())
    }
}

impl Contender for Server {
    fn sample(&mut self, operation: Operation) -> Result<Option<Duration>> {
        let empty = self.client.call(self.tool, &self.nothing)?.1;
        if operation != Operation::Call {
            return Ok(Some(empty));
        }
        let full = self.client.call(self.tool, &self.calls)?.1;
        Ok(Some(full.saturating_sub(empty) / CALLS))
    }
}
