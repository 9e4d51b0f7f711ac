//! The `tools/list` answers of 46 real, public servers.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use serde_json::value::RawValue;
use types::{ServerTools, Tool};

/// The folder of `<server>.tools.json` files.
pub fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("catalogue")
}

/// The names of the servers, sorted.
pub fn servers() -> Vec<String> {
    let entries = std::fs::read_dir(directory()).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            entry
                .file_name()
                .to_str()?
                .strip_suffix(".tools.json")
                .map(str::to_owned)
        })
        .collect();
    names.sort();
    names
}

/// The file of one server.
pub fn file(server: &str) -> PathBuf {
    directory().join(format!("{server}.tools.json"))
}

/// The lists of all servers, sorted by server. Fails if a file is unreadable or holds no list of tools.
pub fn lists() -> Result<Vec<ServerTools>> {
    servers().into_iter().map(list).collect()
}

fn list(name: String) -> Result<ServerTools> {
    let path = file(&name);
    let read = || -> Result<Arc<[Arc<Tool>]>> {
        let definitions: Vec<Box<RawValue>> = serde_json::from_slice(&std::fs::read(&path)?)?;
        let tools = definitions
            .into_iter()
            .map(|definition| Ok(Arc::new(Tool::parse(definition)?)));
        tools.collect()
    };
    Ok(ServerTools {
        tools: Some(read().with_context(|| path.display().to_string())?),
        name,
        description: None,
        cwd: None,
    })
}
