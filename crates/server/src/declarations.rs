//! Declarations of tools in Python and TypeScript, for the command line.

use std::collections::BTreeMap;

use catalog::{Catalog, Entry, Language, declarations, wrappers};

use crate::Caller;
use crate::call_error::CallError;

/// Declarations for the servers that have listed their tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declarations {
    /// Texts by path: `tools/<server>/<tool>.pyi` or `.d.ts`, and one file that gathers a server's tools.
    pub files: BTreeMap<String, String>,
    /// Directories of these servers; any other file in them belongs to a removed tool.
    pub directories: Vec<String>,
}

/// Python modules that call tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wrappers {
    /// Texts by path: `servers/<server>/<tool>.py`, with `__init__.py` and `README.md` beside.
    pub files: BTreeMap<String, String>,
    /// Directories of these servers; any other file in them belongs to a removed tool.
    pub directories: Vec<String>,
    /// Directories of servers whose tools are unknown now or were not asked for.
    pub unknown: Vec<String>,
}

impl Caller {
    /// Declares one tool, `SERVER.TOOL`.
    pub async fn declaration(&self, tool: &str, language: Language) -> Result<String, CallError> {
        let entry = self.find(tool).await?;
        let learned = self.shared.broker.learned(&self.principal).await;
        Ok(entry.declaration(language, learned.of(&entry).as_deref()))
    }

    /// Declares the known tools that policy allows, of all servers or of one.
    pub async fn declarations(
        &self,
        language: Language,
        name: Option<&str>,
    ) -> Result<Declarations, CallError> {
        let catalog = self.shared.broker.catalog().await;
        let learned = self.shared.broker.learned(&self.principal).await;
        let wanted = wanted(&catalog, name)?;
        let may_call = |entry: &Entry| self.shared.broker.may_call(&self.principal, entry);
        let mut all = Declarations::default();
        for server in wanted.into_iter().filter(|server| server.listed) {
            let observed = |entry: &Entry| learned.of(entry);
            all.files
                .extend(declarations(server, language, &may_call, &observed));
            all.directories.push(format!("tools/{}", server.alias));
        }
        Ok(all)
    }

    /// Modules for the known tools that policy allows, of all servers or of one. Tool files need no module.
    pub async fn wrappers(&self, name: Option<&str>) -> Result<Wrappers, CallError> {
        let broker = &self.shared.broker;
        let catalog = broker.catalog().await;
        let learned = broker.learned(&self.principal).await;
        let files = broker.directories();
        let wanted: Vec<&str> = wanted(&catalog, name)?
            .into_iter()
            .map(|server| server.name.as_str())
            .collect();
        let may_call = |entry: &Entry| broker.may_call(&self.principal, entry);
        let mut all = Wrappers::default();
        for server in catalog.servers().filter(|server| !files.contains(&server.name)) {
            let directory = format!("servers/{}", server.alias);
            if server.listed && wanted.contains(&server.name.as_str()) {
                all.files
                    .extend(wrappers(server, &may_call, &|entry| learned.of(entry)));
                all.directories.push(directory);
            } else {
                all.unknown.push(directory);
            }
        }
        Ok(all)
    }
}

/// The named server, or all servers.
fn wanted<'a>(catalog: &'a Catalog, name: Option<&str>) -> Result<Vec<&'a catalog::Server>, CallError> {
    let Some(name) = name else {
        return Ok(catalog.servers().collect());
    };
    let found = catalog
        .server(name)
        .map_err(|unknown| CallError::Unknown { unknown });
    Ok(vec![found?])
}
