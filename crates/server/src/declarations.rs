//! Declarations of tools, in Python and in TypeScript, for the command line.

use std::collections::BTreeMap;

use catalog::{Entry, Language, declarations};

use crate::Server;
use crate::calls::{CallFailed, Fault};

/// The declarations of the servers that have listed their tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declarations {
    /// Texts by their path: `tools/<server>/<tool>.pyi` or `.d.ts`, and the file that gathers a server's tools.
    pub files: BTreeMap<String, String>,
    /// The directories of these servers: whatever else is in them belongs to tools that are gone.
    pub directories: Vec<String>,
}

impl Server {
    /// Declares one tool, `SERVER.TOOL`.
    pub async fn declaration(&self, tool: &str, language: Language) -> Result<String, CallFailed> {
        let entry = self.find(tool).await?;
        let learned = self.shared.broker.learned(&self.shared.principal).await;
        Ok(entry.declaration(language, learned.of(&entry).as_deref()))
    }

    /// Declares the tools of all servers, or of one, as far as they are known now and policy lets anybody call them.
    pub async fn declarations(
        &self,
        language: Language,
        name: Option<&str>,
    ) -> Result<Declarations, CallFailed> {
        let catalog = self.shared.broker.catalog().await;
        let learned = self.shared.broker.learned(&self.shared.principal).await;
        let wanted = match name {
            Some(name) => vec![catalog.server(name).map_err(|unknown| {
                CallFailed {
                    message: unknown
                        .hint
                        .as_ref()
                        .map_or_else(|| unknown.to_string(), |hint| format!("{unknown}; {hint}")),
                    fault: Fault::Caller,
                }
            })?],
            None => catalog.servers().collect(),
        };
        let may_call = |entry: &Entry| self.shared.broker.may_call(&self.shared.principal, entry);
        let mut all = Declarations::default();
        for server in wanted.into_iter().filter(|server| server.listed) {
            let observed = |entry: &Entry| learned.of(entry);
            all.files
                .extend(declarations(server, language, &may_call, &observed));
            all.directories.push(format!("tools/{}", server.alias));
        }
        Ok(all)
    }
}
