//! The real, public servers that `cargo xtask test` installs, with their own data for each test.

mod remote;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value};

use crate::programs::target_directory;

pub use remote::RealRemote;

const REMEDY: &str = "run `cargo xtask test` once, which installs them";

/// Their entries of `mcpServers`, by name, with a fresh copy of their files, repository and databases.
/// `directory` must outlive the servers.
pub fn real_servers(directory: &Path) -> Result<Map<String, Value>> {
    servers("mcp.json", directory)
}

/// Earlier releases that answer in JSON without an output schema.
pub(crate) fn older_servers(directory: &Path) -> Result<Map<String, Value>> {
    servers("older.json", directory)
}

fn servers(file: &str, directory: &Path) -> Result<Map<String, Value>> {
    let installed = installed();
    let definitions = installed.join(file);
    let definitions = fs::read_to_string(&definitions)
        .with_context(|| format!("no real servers in {}: {REMEDY}", installed.display()))?;
    let mut definitions: Value = serde_json::from_str(&own_copy(&definitions, directory)?)?;
    let Some(Value::Object(servers)) = definitions.get_mut("mcpServers").map(Value::take) else {
        bail!("no servers in {}: {REMEDY}", installed.display());
    };
    for (name, entry) in &servers {
        let command = Path::new(entry["command"].as_str().unwrap_or_default());
        if !interpreter(command).is_some_and(|path| path.is_file()) {
            bail!("the real server '{name}' cannot be started by this user: {REMEDY}");
        }
    }
    Ok(servers)
}

/// Definitions that refer to one test's own data, copied on first use.
fn own_copy(definitions: &str, directory: &Path) -> Result<String> {
    let (shared, own) = (installed().join("data"), directory.join("upstreams"));
    if !own.exists() {
        copy(&shared, &own).context("the data of the real servers")?;
    }
    Ok(definitions.replace(&*shared.to_string_lossy(), &own.to_string_lossy()))
}

/// `CODEYARD_UPSTREAMS`, else a directory below `target`.
pub(crate) fn installed() -> PathBuf {
    match std::env::var_os("CODEYARD_UPSTREAMS") {
        Some(path) => path.into(),
        None => target_directory().join("upstreams"),
    }
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// The interpreter in a script's first line, else the file itself; `None` if it cannot be read.
fn interpreter(program: &Path) -> Option<PathBuf> {
    let content = fs::read(program).ok()?;
    let first_line = content.split(|byte| *byte == b'\n').next()?;
    let named = first_line.strip_prefix(b"#!").map(String::from_utf8_lossy);
    Some(
        match named.as_deref().and_then(|named| named.split_whitespace().next()) {
            Some(interpreter) => interpreter.into(),
            None => program.to_owned(),
        },
    )
}
