//! What stands behind the surface `bridge`: definitions looked at anew before each call, servers selected by name.

use std::sync::{Arc, Mutex, PoisonError};

use config::Definitions;
use gateway::{BridgeService, Executed, NotExecuted, RunPython, Selected};
use serde_json::json;
use session::Language;
use store::{Front, Refused};
use tokio_util::sync::CancellationToken;
use types::Granted;

use crate::Server;
use crate::files::blocking;
use crate::service::Asked;

/// A server whose programs reach what they name of definitions that may change at any time. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Bridge {
    server: Server,
    definitions: Arc<Mutex<Definitions>>,
    /// What was asked for that runs programs in containers, which is not there.
    container: Option<String>,
}

impl Bridge {
    pub(crate) fn new(server: Server, definitions: Definitions, container: Option<String>) -> Self {
        Self {
            server,
            definitions: Arc::new(Mutex::new(definitions)),
            container,
        }
    }

    /// Takes in the definitions as they are now.
    async fn rescan(&self) {
        let (definitions, hub) = (self.definitions.clone(), self.server.shared.hub.clone());
        // Looked at and taken in as one step: of two calls at once the later look counts.
        blocking(move || {
            let mut definitions = definitions.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(scan) = definitions.scan() else { return };
            for warning in &scan.warnings {
                tracing::warn!("{warning}");
            }
            hub.replace(scan.servers);
        })
        .await;
    }
}

impl BridgeService for Bridge {
    async fn select(&self, servers: &[String]) -> Result<Selected, NotExecuted> {
        if let Some(container) = &self.container {
            return Err(NotExecuted(no_containers(container)));
        }
        self.rescan().await;
        let catalog = self.server.shared.broker.catalog().await;
        let mut found = Vec::with_capacity(servers.len());
        for name in servers {
            let server = catalog.server(name).map_err(|unknown| {
                let hint = unknown.hint.map_or_else(String::new, |hint| format!("; {hint}"));
                NotExecuted(format!("Unknown MCP server: {name}{hint}"))
            })?;
            found.push((server.name.clone(), server.alias.clone()));
        }
        found.sort();
        found.dedup();
        let (names, aliases): (Vec<_>, _) = found.into_iter().unzip();
        Ok(Selected {
            names: names.into(),
            aliases,
        })
    }

    async fn run_python(
        &self,
        request: RunPython,
        cancel: CancellationToken,
    ) -> Result<Executed, NotExecuted> {
        let limits = self.server.shared.policy.limits_within(Some(request.timeout));
        let limits = limits.map_err(|error| NotExecuted(error.to_string()))?;
        let loaded = request.servers.names.iter().zip(&request.servers.aliases);
        let loaded: Vec<_> = loaded
            .map(|(name, alias)| json!({"name": name, "alias": alias}))
            .collect();
        let asked = Asked {
            code: request.code,
            language: Language::Python,
            session: session::Selector::Default,
            granted: Granted {
                limits,
                named: Vec::new(),
            },
            surface: Some(json!({"name": "bridge", "loaded": loaded})),
            loaded: Some(request.servers.names),
        };
        self.server.run_for_client(asked, cancel).await
    }

    async fn not_run(&self, code: Option<&str>) {
        let attempt = self.server.attempt(Front::Mcp, None, code, None);
        // Nothing is run either way; that it cannot be recorded is told by who writes.
        let _ = self
            .server
            .shared
            .records
            .refused(attempt, Refused::Arguments)
            .await;
    }
}

/// What is answered where containers are asked for.
fn no_containers(asked: &str) -> String {
    format!(
        "{asked} asks for containers, and this codeyard does not run programs in containers; unset it, or set \
         MCP_BRIDGE_RUNTIME=auto: programs then run in the sandbox that `codeyard doctor` describes"
    )
}
