//! Tools that clients of the surface `code` see themselves: what they are now, what they cost, and that they fit.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use catalog::{Catalog, Entry};
use futures_util::future::join_all;
use gateway::Exposed;
use tokio::time::timeout;
use types::{Tool, ToolRef};

use crate::Server;
use crate::calls::Fault;

/// How long the start waits for servers that were never asked for their tools; what comes later is told as a change.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why codeyard does not serve what `[expose]` names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotExposed {
    /// A tool is not there, or its server does not start.
    #[error("[expose] tools: {tool}: {why}")]
    Tool {
        /// As it is written.
        tool: String,
        /// What is wrong with it and what to do.
        why: String,
    },
    /// They take more than the budget.
    #[error(
        "[expose] budget: the definitions take {total} tokens and {budget} are allowed: {prices}; leave tools out, or raise the budget to {total}"
    )]
    Budget {
        /// What they take together.
        total: u64,
        /// What they may take.
        budget: u64,
        /// What each takes, the dearest first.
        prices: String,
    },
    /// Tokens cannot be counted.
    #[error(transparent)]
    Uncounted(#[from] tokens::Unloadable),
}

impl Server {
    /// Whether tools are to be exposed at all.
    pub(crate) fn exposes(&self) -> bool {
        !self.shared.expose.tools.is_empty()
    }

    /// Refuses to serve what does not fit; starts servers that have never listed their tools.
    ///
    /// # Errors
    /// A tool that is not there or may not be called, or prices beyond the budget.
    pub async fn check_exposed(&self) -> Result<(), NotExposed> {
        let shared = &self.shared;
        let found = shared
            .expose
            .tools
            .iter()
            .map(|name| timeout(PATIENCE, self.find(name)));
        let mut entries = Vec::new();
        for (name, found) in shared.expose.tools.iter().zip(join_all(found).await) {
            let failed = |why: String| NotExposed::Tool {
                tool: name.clone(),
                why,
            };
            let entry = match found {
                Ok(Ok(entry)) => entry,
                // It is shown once its server is well.
                Ok(Err(error)) if error.fault == Fault::Upstream => {
                    tracing::warn!("[expose] tools: {name}: {error}");
                    continue;
                }
                Err(_) => {
                    tracing::warn!("[expose] tools: {name}: its server is still starting");
                    continue;
                }
                Ok(Err(error)) => return Err(failed(error.to_string())),
            };
            let permit = shared.broker.authorize(&shared.principal, &entry.tool);
            drop(permit.map_err(|denied| failed(denied.to_string()))?);
            entries.push(entry);
        }
        let prices = self.prices(&entries).await?;
        let total: u64 = prices.iter().sum();
        if total <= shared.expose.budget {
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
            budget: shared.expose.budget,
            prices: prices.join(", "),
        })
    }

    /// The tools that are listed now, in the order of the settings, as far as the budget goes; starts no server.
    pub(crate) async fn exposed_now(&self) -> Vec<Exposed> {
        let shared = &self.shared;
        let catalog = shared.broker.catalog().await;
        let found = shared
            .expose
            .tools
            .iter()
            .filter_map(|name| listed(&catalog, name));
        let entries: Vec<Arc<Entry>> = found
            .filter(|entry| shared.broker.may_call(&shared.principal, entry))
            .collect();
        let prices = match self.prices(&entries).await {
            Ok(prices) => prices,
            Err(error) => {
                tracing::warn!("no tool is exposed: {error}");
                return Vec::new();
            }
        };
        let mut left = shared.expose.budget;
        let fits = entries.into_iter().zip(prices).filter_map(|(entry, price)| {
            let Some(rest) = left.checked_sub(price) else {
                tracing::warn!(tool = %entry.tool, price, left, "not exposed any more: its definition has grown beyond the budget");
                return None;
            };
            left = rest;
            Some(Exposed {
                server: entry.tool.server.clone(),
                alias: entry.server_alias.clone(),
                definition: entry.definition.clone(),
            })
        });
        fits.collect()
    }

    /// Tokens of the definitions of exposed tools that are listed, by tool; none if they cannot be counted.
    pub(crate) async fn exposed_prices(&self, catalog: &Catalog) -> HashMap<ToolRef, u64> {
        let named = &self.shared.expose.tools;
        let is_named = |entry: &&Arc<Entry>| named.contains(&entry.tool.to_string());
        let entries: Vec<Arc<Entry>> = match named.as_slice() {
            [] => Vec::new(),
            _ => catalog.entries().filter(is_named).cloned().collect(),
        };
        if entries.is_empty() {
            return HashMap::new();
        }
        let prices = self.prices(&entries).await.unwrap_or_default();
        let tools = entries.iter().map(|entry| entry.tool.clone());
        tools.zip(prices).collect()
    }

    /// Tokens of each definition, as a model is sent it.
    async fn prices(&self, entries: &[Arc<Entry>]) -> Result<Vec<u64>, tokens::Unloadable> {
        let counter = self.shared.receipts.counter.clone();
        let tools: Vec<Arc<Tool>> = entries.iter().map(|entry| entry.definition.clone()).collect();
        let counted = tokio::task::spawn_blocking(move || {
            let tokenizer = counter.load()?;
            Ok(tools
                .iter()
                .map(|tool| tokenizer.tools(&[tool.as_ref()]))
                .collect())
        });
        // The runtime is ending, and with it whoever asked.
        counted.await.unwrap_or_else(|_| Ok(Vec::new()))
    }
}

/// The tool of `SERVER.TOOL`, if its server has listed it; either name may hold dots itself.
fn listed(catalog: &Catalog, name: &str) -> Option<Arc<Entry>> {
    let mut dots = name.match_indices('.');
    dots.find_map(|(at, _)| catalog.resolve(&name[..at], &name[at + 1..]).ok().cloned())
}
