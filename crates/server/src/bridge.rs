//! Serves the surface `bridge`: reads the definitions again before each call, if they are in files, and selects servers
//! by name.

use std::sync::Arc;
use std::time::Duration;

use accounting::{Receipt, ReceiptInput};
use broker::RunClient;
use registry::BridgeDefinitions;
use store::{Front, Refused};
use surfaces::{BridgeService, Execute, RunError, RunReport, Selected};
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use types::{BridgeServer, BridgeServers, RunId};

use crate::Caller;
use crate::files::blocking;
use crate::service::RunExtras;

/// Longest wait for the definition files; a network home directory may hang.
const PATIENCE: Duration = Duration::from_secs(2);

/// Bytes of server names passed to a run; a program queries the host for the other names.
const MOST_NAMED: usize = 32 * 1024;

/// The servers of one caller. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Bridge {
    server: Caller,
    definitions: Option<Arc<Mutex<BridgeDefinitions>>>,
    /// The setting that asks for containers, which codeyard does not offer.
    container: Option<String>,
}

impl Bridge {
    pub(crate) fn new(
        server: Caller,
        definitions: Option<Arc<Mutex<BridgeDefinitions>>>,
        container: Option<String>,
    ) -> Self {
        Self {
            server,
            definitions,
            container,
        }
    }

    /// Reads the definitions; keeps the previous ones if the files take too long.
    async fn rescan(&self) {
        let Some(definitions) = self.definitions.clone() else {
            return;
        };
        let broker = self.server.shared.broker.clone();
        let looked = timeout(PATIENCE, async {
            // Read and adopt under one lock: of two concurrent calls, the later read counts.
            let mut definitions = definitions.lock_owned().await;
            blocking(move || {
                let Some(scan) = definitions.scan() else { return };
                for warning in &scan.warnings {
                    tracing::warn!("{warning}");
                }
                broker.replace(scan.servers);
            })
            .await
        });
        if looked.await.is_err() {
            tracing::warn!(
                "the server definitions could not be read within {PATIENCE:?}; the known ones stay"
            );
        }
    }
}

impl Bridge {
    /// Records a program that is not run.
    async fn refuse(&self, code: Option<&str>, why: Refused) {
        let attempt = self.server.attempt(Front::Mcp, None, code, None);
        // The program is refused either way; the writer reports a failure to record.
        let _ = self.server.shared.records.refused(attempt, why).await;
    }
}

impl BridgeService for Bridge {
    async fn select(&self, servers: &[String]) -> Result<Selected, RunError> {
        if self.container.is_none() {
            self.rescan().await;
        }
        let catalog = self.server.shared.broker.catalog().await;
        let mut found = Vec::with_capacity(servers.len());
        for name in servers {
            let server = catalog.server(name).map_err(|unknown| RunError::UnknownServer {
                name: name.clone(),
                hint: unknown.hint.map(|hint| hint.to_string()),
            })?;
            found.push((server.name.clone(), server.alias.clone()));
        }
        found.sort();
        found.dedup();
        let all = catalog.servers().map(|server| (&server.name, &server.alias));
        let told = BridgeServers {
            loaded: as_many_as_fit(found.iter().map(|(name, alias)| (name, alias))),
            discovered: as_many_as_fit(all),
        };
        Ok(Selected {
            names: Arc::new(found.into_iter().map(|(name, _)| name).collect()),
            told: Arc::new(told),
        })
    }

    async fn run_python(
        &self,
        run: Execute,
        cancel: CancellationToken,
        client: RunClient,
    ) -> Result<RunReport, RunError> {
        if let Some(container) = &self.container {
            self.refuse(Some(&run.spec.code), Refused::Sandbox).await;
            return Err(RunError::NoContainers {
                setting: container.clone(),
            });
        }
        let language = run.spec.language.name();
        self.server.count_run(Some(language), &run.spec.code).await?;
        let around = RunExtras::of_client(&run, client);
        let ran = self.server.execute_run(run.spec, run.profile, around, cancel);
        Ok(ran.await?)
    }

    async fn receipt(&self, run: &RunId, input: ReceiptInput) -> Option<Receipt> {
        self.server.take_receipt(run, input).await
    }

    async fn refused(&self, code: Option<&str>) {
        self.refuse(code, Refused::Arguments).await;
    }
}

/// The servers named to a program, up to the bound in bytes.
fn as_many_as_fit<'a>(servers: impl Iterator<Item = (&'a String, &'a String)>) -> Vec<BridgeServer> {
    let mut room = MOST_NAMED;
    let fits = |(name, alias): &(&String, &String)| {
        room = room.saturating_sub(name.len() + alias.len());
        room > 0
    };
    servers
        .take_while(fits)
        .map(|(name, alias)| BridgeServer {
            name: name.clone(),
            alias: alias.clone(),
        })
        .collect()
}
