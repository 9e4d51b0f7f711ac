//! Counts what runs and definitions cost a model, and records the receipts.

mod call_meter;

use std::sync::Arc;
use std::time::Duration;

use accounting::{
    DirectCost, DirectDefinitions, KnownDefinitions, Receipt, ReceiptInput, RecordedReceipt, TokenTableError,
};
use catalog::Catalog;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use types::{RunId, Tool};

use crate::Caller;
use call_meter::CallMeter;

/// Longest delay of a finished run's answer while its texts are counted.
const COUNT_DEADLINE: Duration = Duration::from_secs(10);

/// Why a requested receipt is missing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MissingReceipt {
    #[error("there is no receipt: its tokens were not counted within {} s of the run", COUNT_DEADLINE.as_secs())]
    Late,
    #[error("there is no receipt: the run was cancelled before its tokens were counted")]
    Cancelled,
    #[error("there is no receipt: {0}")]
    TokenTableError(#[from] TokenTableError),
}

impl Caller {
    pub(crate) fn meter(&self) -> Arc<CallMeter> {
        Arc::new(CallMeter::new(self.shared.counter.clone()))
    }

    /// Cost of a metered run without codeyard, or `notice` with the reason why the cost was not counted. The wait is
    /// bounded, and ends at once after `cancel`.
    pub(crate) async fn direct(
        &self,
        meter: Option<Arc<CallMeter>>,
        notice: Option<String>,
        cancel: &CancellationToken,
    ) -> (Option<DirectCost>, Option<String>) {
        let Some(meter) = meter else {
            return (None, notice);
        };
        let counted = async {
            Ok(DirectCost {
                calls: meter.total().await?,
                definitions: self.direct_definitions().await?,
            })
        };
        match in_time(counted, cancel).await {
            Ok(direct) => (Some(direct), notice),
            Err(uncounted) => {
                tracing::warn!("{uncounted}");
                let notices = notice.into_iter().chain([uncounted.to_string()]);
                (None, Some(notices.collect::<Vec<_>>().join("; ")))
            }
        }
    }

    /// Counts and records a run's receipt; `None` (and a log line) if tokens cannot be counted.
    pub(crate) async fn take_receipt(&self, run: &RunId, input: ReceiptInput) -> Option<Receipt> {
        let counter = self.shared.counter.clone();
        let count = move || Ok::<_, TokenTableError>(Receipt::count(counter.tokenizer()?, input));
        match tokio::task::spawn_blocking(count).await.ok()? {
            Ok(receipt) => {
                self.shared.records.receipt(run, RecordedReceipt::from(&receipt));
                Some(receipt)
            }
            Err(error) => {
                tracing::warn!("there is no receipt: {error}");
                None
            }
        }
    }

    /// Definitions sent to a model: those of the surface `code` and of the servers that have listed their tools.
    /// Starts no server.
    ///
    /// # Errors
    /// If tokens cannot be counted.
    pub async fn known_definitions(&self) -> Result<KnownDefinitions, TokenTableError> {
        self.shared.hub.ready().await;
        let catalog = self.shared.broker.catalog().await;
        let shown = self.shown_servers().await;
        let caller = self.clone();
        let counted = tokio::task::spawn_blocking(move || {
            let counter = &caller.shared.counter;
            let servers = caller.callable(&catalog).into_iter();
            let servers = servers.map(|(server, tools)| Ok((server, counter.definitions(&tools)?)));
            Ok(KnownDefinitions {
                servers: servers.collect::<Result<_, TokenTableError>>()?,
                surface: surfaces::definition_tokens(counter.tokenizer()?, &shown),
            })
        });
        // The runtime is ending.
        counted.await.unwrap_or_else(|_| Ok(KnownDefinitions::default()))
    }

    /// Definitions of all callable listed tools, as a client without codeyard would send them. Starts no server.
    async fn direct_definitions(&self) -> Result<DirectDefinitions, TokenTableError> {
        let catalog = self.shared.broker.catalog().await;
        let caller = self.clone();
        let counted = tokio::task::spawn_blocking(move || {
            let mut definitions = DirectDefinitions {
                unlisted: catalog.servers().filter(|server| !server.listed).count(),
                ..DirectDefinitions::default()
            };
            for (_, tools) in caller.callable(&catalog) {
                definitions.servers += 1;
                definitions.tools += tools.len();
                definitions.tokens += caller.shared.counter.definitions(&tools)?;
            }
            Ok(definitions)
        });
        // The runtime is ending.
        counted.await.unwrap_or_else(|_| Ok(DirectDefinitions::default()))
    }

    /// Callable tools of each server that has listed its tools. Tool files are excluded: no client
    /// could send their definitions.
    fn callable<'c>(&self, catalog: &'c Catalog) -> Vec<(String, Vec<&'c Tool>)> {
        let shared = &self.shared;
        let files = shared.broker.directories();
        let servers = catalog.servers();
        servers
            .filter(|server| server.listed && !files.contains(&server.name))
            .map(|server| {
                let entries = server.entries();
                let entries = entries.filter(|entry| shared.broker.may_call(&self.principal, entry));
                let tools = entries.map(|entry| entry.definition.as_ref());
                (server.name.clone(), tools.collect())
            })
            .collect()
    }
}

/// The count, unless it takes too long or the run is cancelled.
async fn in_time<T>(
    counted: impl Future<Output = Result<T, TokenTableError>>,
    cancel: &CancellationToken,
) -> Result<T, MissingReceipt> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(MissingReceipt::Cancelled),
        counted = timeout(COUNT_DEADLINE, counted) => Ok(counted.map_err(|_| MissingReceipt::Late)??),
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_waits_for_its_receipt_for_a_time() {
        let cancel = CancellationToken::new();
        assert_eq!(in_time(ready(Ok(5)), &cancel).await, Ok(5));
        let late = in_time(pending::<Result<(), _>>(), &cancel).await;
        assert_eq!(
            late.map_err(|late| late.to_string()),
            Err("there is no receipt: its tokens were not counted within 10 s of the run".to_owned())
        );
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_the_receipt_of_a_run_that_was_cancelled() {
        let cancel = CancellationToken::new();
        let begun = tokio::time::Instant::now();
        let (waited, ()) = tokio::join!(in_time(pending::<Result<(), _>>(), &cancel), async {
            cancel.cancel();
        });
        assert_eq!(waited, Err(MissingReceipt::Cancelled));
        assert!(begun.elapsed().is_zero());
    }
}
