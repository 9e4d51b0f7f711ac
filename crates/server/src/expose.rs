//! Tools that clients of the surface `code` see directly: their definitions, their cost, and the budget.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use accounting::TokenTableError;
use catalog::{Catalog, Entry};
use futures_util::future::join_all;
use serde_json::Value;
use surfaces::{ExposedTool, exposed_definitions};
use tokio::time::timeout;
use types::Fault;
use types::ToolRef;

use crate::Caller;

/// Longest wait at start for servers that never listed their tools; later tools are announced as a change.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why codeyard refuses to serve `[expose]`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotExposed {
    /// A tool does not exist, or its server does not start.
    #[error("[expose] tools: {tool}: {why}")]
    Tool {
        /// The name in the settings.
        tool: String,
        /// What is wrong and what to do.
        why: String,
    },
    /// The definitions exceed the budget.
    #[error(
        "[expose] budget: the definitions take {total} tokens and {budget} are allowed: {prices}; leave tools out, or raise the budget to {total}"
    )]
    Budget {
        /// Tokens of all definitions.
        total: u64,
        /// The budget in tokens.
        budget: u64,
        /// Tokens of each, highest first.
        prices: String,
    },
    /// Tokens cannot be counted.
    #[error(transparent)]
    Uncounted(#[from] TokenTableError),
}

impl Caller {
    /// Whether clients of the surface `code` see servers' names or tools before they ask.
    pub(crate) fn shows_servers(&self) -> bool {
        self.defaults.names_servers || !self.defaults.expose.tools.is_empty()
    }

    /// Program names of the servers that clients see before they ask; starts no server.
    pub async fn shown_servers(&self) -> Vec<String> {
        let shared = &self.shared;
        match self.defaults.names_servers {
            true => shared.broker.server_names(&self.principal).await,
            false => Vec::new(),
        }
    }

    /// Refuses a setting that cannot be served; starts servers that never listed their tools.
    ///
    /// # Errors
    /// A tool that is missing, forbidden, a file or named twice, or a total above the budget.
    pub async fn check_exposed(&self) -> Result<(), NotExposed> {
        self.refuse_files().await?;
        let shared = &self.shared;
        let found = self
            .defaults
            .expose
            .tools
            .iter()
            .map(|name| timeout(PATIENCE, self.find(name)));
        let mut names: Vec<&str> = Vec::new();
        let mut entries: Vec<Arc<Entry>> = Vec::new();
        for (name, found) in self.defaults.expose.tools.iter().zip(join_all(found).await) {
            let failed = |why: String| NotExposed::Tool {
                tool: name.clone(),
                why,
            };
            let entry = match found {
                Ok(Ok(entry)) => entry,
                // The tool becomes visible once its server works.
                Ok(Err(error)) if error.fault() == Fault::Upstream => {
                    tracing::warn!("[expose] tools: {name}: {error}");
                    continue;
                }
                Err(_) => {
                    tracing::warn!("[expose] tools: {name}: its server is still starting");
                    continue;
                }
                Ok(Err(error)) => return Err(failed(error.to_string())),
            };
            let admitted = shared.broker.admit(&self.principal, &entry.tool);
            let _admission = admitted.map_err(|denied| failed(denied.to_string()))?;
            if let Some(place) = entries.iter().position(|known| known.tool == entry.tool) {
                return Err(failed(format!(
                    "it is the same tool as '{}'; name it once",
                    names[place]
                )));
            }
            names.push(name);
            entries.push(entry);
        }
        let prices = self.prices(&entries).await?;
        let total: u64 = prices.iter().sum();
        if total <= self.defaults.expose.budget {
            return Ok(());
        }
        let mut priced: Vec<(u64, String)> = prices
            .into_iter()
            .zip(entries.iter().map(|entry| entry.tool.to_string()))
            .collect();
        priced.sort_by_key(|(price, _)| std::cmp::Reverse(*price));
        let prices: Vec<String> = priced
            .iter()
            .map(|(price, name)| format!("{name} {price}"))
            .collect();
        Err(NotExposed::Budget {
            total,
            budget: self.defaults.expose.budget,
            prices: prices.join(", "),
        })
    }

    /// Refuses tool files: a tool file runs in a program's sandbox, and a client's direct call has no sandbox.
    async fn refuse_files(&self) -> Result<(), NotExposed> {
        self.look().await;
        for name in &self.defaults.expose.tools {
            if self.shared.broker.file_named(name).await.is_some() {
                return Err(NotExposed::Tool {
                    tool: name.clone(),
                    why: "a tool file runs in a program's sandbox and cannot be exposed; leave it out"
                        .to_owned(),
                });
            }
        }
        Ok(())
    }

    /// The listed tools of `[expose]`, in its order; two spellings of one tool count once. Excludes a tool file that
    /// took over a name after the start.
    fn exposed_entries(&self, catalog: &Catalog) -> Vec<Arc<Entry>> {
        let files = self.shared.broker.directories();
        let mut entries: Vec<Arc<Entry>> = Vec::new();
        let named = self.defaults.expose.tools.iter();
        for entry in named.filter_map(|name| listed(catalog, name)) {
            let is_known = entries.iter().any(|known| known.tool == entry.tool);
            if !is_known && !files.contains(&entry.tool.server) {
                entries.push(entry);
            }
        }
        entries
    }

    /// The tools of `[expose]`, spelled as the server lists them, or as in the settings while unknown. Starts no
    /// server.
    pub async fn exposed_tools(&self) -> Vec<ToolRef> {
        self.shared.hub.ready().await;
        let catalog = self.shared.broker.catalog().await;
        let mut tools: Vec<ToolRef> = Vec::new();
        for name in &self.defaults.expose.tools {
            let written = || {
                let (server, tool) = name.split_once('.')?;
                Some(ToolRef::new(server, tool))
            };
            let found = listed(&catalog, name).map(|entry| entry.tool.clone());
            tools.extend(found.or_else(written).filter(|tool| !tools.contains(tool)));
        }
        tools
    }

    /// Tokens of the definition of every callable server tool, as clients would see it; starts no server.
    ///
    /// # Errors
    /// If tokens cannot be counted.
    pub async fn prices_of_all(&self) -> Result<Vec<(ToolRef, u64)>, TokenTableError> {
        let shared = &self.shared;
        shared.hub.ready().await;
        let catalog = shared.broker.catalog().await;
        let files = shared.broker.directories();
        let callable = catalog.entries().filter(|entry| {
            !files.contains(&entry.tool.server) && shared.broker.may_call(&self.principal, entry)
        });
        let entries: Vec<Arc<Entry>> = callable.cloned().collect();
        let tools = entries.iter().map(|entry| entry.tool.clone());
        // Count each definition alone: the final combination is unknown.
        let definitions = entries
            .iter()
            .flat_map(|entry| exposed_definitions(&[exposed(entry)]))
            .collect();
        Ok(tools.zip(self.count_each(definitions).await?).collect())
    }

    /// The listed tools in the order of the settings, up to the budget; starts no server.
    pub(crate) async fn exposed_now(&self) -> Vec<ExposedTool> {
        let shared = &self.shared;
        if self.defaults.expose.tools.is_empty() {
            return Vec::new();
        }
        let catalog = shared.broker.catalog().await;
        let entries: Vec<Arc<Entry>> = self
            .exposed_entries(&catalog)
            .into_iter()
            .filter(|entry| shared.broker.may_call(&self.principal, entry))
            .collect();
        let prices = match self.prices(&entries).await {
            Ok(prices) => prices,
            Err(error) => {
                tracing::warn!("no tool is exposed: {error}");
                return Vec::new();
            }
        };
        let mut left = self.defaults.expose.budget;
        let fits = entries.into_iter().zip(prices).filter_map(|(entry, price)| {
            let Some(rest) = left.checked_sub(price) else {
                tracing::warn!(tool = %entry.tool, price, left, "not exposed any more: its definition has grown beyond the budget");
                return None;
            };
            left = rest;
            Some(exposed(&entry))
        });
        fits.collect()
    }

    /// Tokens of the listed exposed tools; empty if they cannot be counted.
    pub(crate) async fn exposed_prices(&self, catalog: &Catalog) -> HashMap<ToolRef, u64> {
        let entries = self.exposed_entries(catalog);
        if entries.is_empty() {
            return HashMap::new();
        }
        let prices = self.prices(&entries).await.unwrap_or_default();
        let tools = entries.iter().map(|entry| entry.tool.clone());
        tools.zip(prices).collect()
    }

    /// Tokens of each definition when all of them are sent to a model together.
    async fn prices(&self, entries: &[Arc<Entry>]) -> Result<Vec<u64>, TokenTableError> {
        let exposed: Vec<ExposedTool> = entries.iter().map(|entry| exposed(entry)).collect();
        self.count_each(exposed_definitions(&exposed)).await
    }

    async fn count_each(&self, definitions: Vec<Value>) -> Result<Vec<u64>, TokenTableError> {
        let counter = self.shared.counter.clone();
        let counted = tokio::task::spawn_blocking(move || {
            let tokenizer = counter.tokenizer()?;
            let each = definitions.chunks(1);
            Ok(each.map(|one| tokenizer.definitions(one)).collect())
        });
        // The runtime is ending, and the caller with it.
        counted.await.unwrap_or_else(|_| Ok(Vec::new()))
    }
}

fn exposed(entry: &Entry) -> ExposedTool {
    ExposedTool {
        server: entry.tool.server.clone(),
        alias: entry.server_alias.clone(),
        definition: entry.definition.clone(),
    }
}

/// The listed tool of `SERVER.TOOL`; either name may contain dots.
fn listed(catalog: &Catalog, name: &str) -> Option<Arc<Entry>> {
    let mut dots = name.match_indices('.');
    dots.find_map(|(at, _)| catalog.resolve(&name[..at], &name[at + 1..]).ok().cloned())
}
