//! Measures the token cost of real servers' definitions for a model, before and after an import into codeyard.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use picture::Row;
use serde_json::{Map, Value, json};

use super::{say, setup};
use crate::{layout, run};

mod picture;

/// Arguments of `cargo xtask bill`.
#[derive(Debug, clap::Args)]
pub struct Bill {
    /// Also draw the bill into this SVG.
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
}

/// The tool lists of real servers, relative to the checkout's root.
const LISTS: &str = "crates/test-support/catalogue";

/// Imports the servers from a client's configuration, and prints the bill.
pub fn run(arguments: &Bill) -> Result<()> {
    setup::packages(setup::FOR_TESTS)?;
    setup::upstreams()?;
    let mut build = setup::cargo();
    build.args([
        "build",
        "--locked",
        "--package=codeyard",
        "--package=test-support",
        "--bins",
    ]);
    run::visible(&mut build)?;
    let (real, replayed) = (real()?, replayed()?);
    let both: Map<String, Value> = real.clone().into_iter().chain(replayed.clone()).collect();
    say("| servers | tools | tokens before | tokens with Codeyard |");
    say("|---|---|---|---|");
    let mut rows = Vec::new();
    for (name, servers) in [("real", real), ("replayed", replayed), ("together", both)] {
        let row = row(format!("{} {name}", servers.len()), &imported(servers)?)?;
        say(&format!(
            "| {} | {} | {} | {} |",
            row.servers, row.tools, row.before, row.after
        ));
        rows.push(row);
    }
    if let Some(file) = &arguments.picture {
        fs::write(file, picture::draw(&rows)).with_context(|| format!("write {}", file.display()))?;
    }
    Ok(())
}

fn row(servers: String, bill: &Value) -> Result<Row> {
    let lines = bill["servers"].as_array().into_iter().flatten();
    Ok(Row {
        servers,
        tools: lines.filter_map(|line| line["tools"].as_u64()).sum(),
        before: bill["tokens_before"]
            .as_u64()
            .context("the bill lacks `tokens_before`")?,
        after: bill["tokens_after"]
            .as_u64()
            .context("the bill lacks `tokens_after`")?,
    })
}

/// The tests' real servers.
fn real() -> Result<Map<String, Value>> {
    let text = fs::read_to_string(layout::upstreams().join("mcp.json"))?;
    let mut file: Value = serde_json::from_str(&text)?;
    let servers = file["mcpServers"].as_object_mut().map(std::mem::take);
    servers.context("the list of real servers is missing")
}

/// Servers that replay the tool lists of real servers.
fn replayed() -> Result<Map<String, Value>> {
    let program = layout::target().join("debug/stub-server");
    let mut servers = Map::new();
    for entry in fs::read_dir(layout::root().join(LISTS))? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if let Some(name) = name.strip_suffix(".tools.json") {
            servers.insert(
                format!("replayed-{name}"),
                json!({"command": program, "args": ["replay", path]}),
            );
        }
    }
    Ok(servers)
}

/// The bill of an import from Cursor in an empty home directory.
fn imported(servers: Map<String, Value>) -> Result<Value> {
    let home = tempfile::tempdir()?;
    let file = home.path().join(".cursor/mcp.json");
    fs::create_dir_all(file.parent().unwrap_or(Path::new("/")))?;
    fs::write(&file, json!({ "mcpServers": servers }).to_string())?;
    let output = Command::new(layout::codeyard())
        .args(["import", "cursor", "--yes", "--json"])
        .env("HOME", home.path())
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_DATA_HOME")
        .output()?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "codeyard import failed: {complaint}");
    let report: Value = serde_json::from_slice(&output.stdout)?;
    let failed = report["bill"]["servers"].as_array().into_iter().flatten();
    let failed: Vec<&Value> = failed.filter(|line| !line["problem"].is_null()).collect();
    ensure!(failed.is_empty(), "servers that did not answer: {failed:?}");
    Ok(report["bill"].clone())
}
