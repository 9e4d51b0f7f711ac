//! The lists of servers and the queries that are measured with.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use types::{ServerTools, Tool};

/// What somebody looks for, and every tool that is a right answer, as `server/tool`; none where no tool answers.
#[derive(Debug, Clone, Deserialize)]
pub struct Query {
    pub query: String,
    pub relevant: Vec<String>,
    pub kind: String,
}

/// One query a line.
pub fn queries(file: &Path) -> Result<Vec<Query>, Box<dyn Error>> {
    let text = std::fs::read_to_string(file)?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    Ok(lines.map(serde_json::from_str).collect::<Result<_, _>>()?)
}

/// Every `SERVER.tools.json` of a directory.
pub fn servers(directory: &Path) -> Result<Vec<ServerTools>, Box<dyn Error>> {
    let mut servers = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let Some(name) = name.strip_suffix(".tools.json") else {
            continue;
        };
        let definitions: Vec<Box<RawValue>> = serde_json::from_slice(&std::fs::read(&path)?)?;
        let tools = definitions
            .into_iter()
            .map(|definition| Ok(Arc::new(Tool::parse(definition)?)));
        servers.push(server(name, tools.collect::<Result<_, Box<dyn Error>>>()?));
    }
    servers.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(servers)
}

/// A server that listed these tools.
pub fn server(name: &str, tools: Arc<[Arc<Tool>]>) -> ServerTools {
    ServerTools {
        name: name.to_owned(),
        description: None,
        cwd: None,
        tools: Some(tools),
    }
}
