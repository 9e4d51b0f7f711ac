//! The lists of servers and the queries that are measured with.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use types::{ServerTools, Tool};

/// What somebody looks for, and every tool that is a right answer, as `server/tool`; none where no tool answers.
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
    /// Whether it describes work, rather than the tool.
    pub fn is_work(&self) -> bool {
        matches!(self.kind.as_str(), "task" | "paraphrase")
    }
}

impl Author {
    /// The queries of a file, which names the author.
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

/// A server that listed these tools.
pub fn server(name: &str, tools: Arc<[Arc<Tool>]>) -> ServerTools {
    ServerTools {
        name: name.to_owned(),
        description: None,
        cwd: None,
        tools: Some(tools),
    }
}
