//! The tool lists and the queries of the evaluation.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use types::{ServerTools, Tool};

/// A query with every right tool, as `server/tool`; none if no tool answers.
#[derive(Debug, Clone, Deserialize)]
pub struct Query {
    pub query: String,
    pub relevant: Vec<String>,
    pub kind: String,
}

/// The queries of one author.
pub struct Author {
    pub name: String,
    pub queries: Vec<Query>,
}

impl Query {
    /// Whether the query describes work, rather than the tool.
    pub fn is_work(&self) -> bool {
        matches!(self.kind.as_str(), "task" | "paraphrase")
    }
}

impl Author {
    /// The file's name is the author's.
    pub fn read(file: &Path) -> Result<Author, Box<dyn Error>> {
        let name = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let queries = queries(file)?;
        Ok(Author { name, queries })
    }
}

/// One query a line.
pub fn queries(file: &Path) -> Result<Vec<Query>, Box<dyn Error>> {
    let text = std::fs::read_to_string(file)?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    Ok(lines.map(serde_json::from_str).collect::<Result<_, _>>()?)
}

/// A server that has listed these tools.
pub fn server(name: &str, tools: Arc<[Arc<Tool>]>) -> ServerTools {
    ServerTools {
        name: name.to_owned(),
        description: None,
        cwd: None,
        tools: Some(tools),
    }
}
