//! Counts what runs cost: asks the broker what their calls would have cost a model, and keeps what was counted.

use std::time::Duration;

use broker::Tally;
use store::{CallsTaken, ReceiptTaken};
use surfaces::{DirectCost, Receipt};
use tokens::Unloadable;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use types::RunId;

use crate::Caller;
use crate::programs::Counted;

/// How long the answer of a run that is over waits for what is still being counted.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a run has no receipt although one was wanted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Uncounted {
    /// Counting took too long.
    #[error("there is no receipt: its tokens were not counted within {} s of the run", PATIENCE.as_secs())]
    Late,
    /// The run was cancelled before all was counted.
    #[error("there is no receipt: the run was cancelled before its tokens were counted")]
    Cancelled,
    /// The tokenizer is broken.
    #[error("there is no receipt: {0}")]
    Unloadable(#[from] Unloadable),
}

impl Caller {
    /// What counts the calls of a run, if that is wanted.
    pub(crate) fn tally(&self, wanted: bool) -> Option<Tally> {
        wanted.then(|| Tally::new(self.defaults.receipts.counter.clone()))
    }

    /// What a run would have cost without codeyard, if it was counted, and what its answer has to say beside `notice`. An
    /// answer waits for this only for a time, and not at all once nobody wants it any more.
    pub(crate) async fn direct(
        &self,
        tally: Option<Tally>,
        notice: Option<String>,
        cancel: &CancellationToken,
    ) -> (Option<DirectCost>, Option<String>) {
        let Some(tally) = tally else {
            return (None, notice);
        };
        let shared = &self.shared;
        let counted = async {
            Ok(DirectCost {
                calls: tally.total().await?,
                definitions: shared
                    .broker
                    .definitions(&self.principal, &self.defaults.receipts.counter)
                    .await?,
            })
        };
        match in_time(counted, cancel).await {
            Ok(direct) => (Some(direct), notice),
            Err(uncounted) => {
                tracing::warn!("{uncounted}");
                let told = notice.into_iter().chain([uncounted.to_string()]);
                (None, Some(told.collect::<Vec<_>>().join("; ")))
            }
        }
    }

    /// The receipt of a program from the command line, as if a client had sent it.
    pub(crate) async fn receipt_of(&self, ran: Counted, direct: DirectCost) -> Option<Receipt> {
        let counter = self.defaults.receipts.counter.clone();
        let run = ran.executed.run_id.clone();
        let servers = self.shown_servers().await;
        let counted = tokio::task::spawn_blocking(move || {
            let tokenizer = counter.load().ok()?;
            let Counted {
                executed,
                code,
                wall_time,
            } = ran;
            Some(surfaces::receipt_for(
                &executed, &servers, &code, wall_time, direct, tokenizer,
            ))
        });
        let receipt = counted.await.ok().flatten()?;
        self.keep_receipt(&run, &receipt);
        Some(receipt)
    }

    /// Records what a run has cost.
    pub(crate) fn keep_receipt(&self, run: &RunId, receipt: &Receipt) {
        let calls = receipt.direct.calls.tools.iter();
        let calls = calls.map(|calls| CallsTaken {
            server: calls.server.clone(),
            tool: calls.tool.clone(),
            calls: calls.calls,
            written: calls.written,
            read: calls.read,
        });
        let taken = ReceiptTaken {
            definitions: receipt.definitions,
            written: receipt.written,
            read: receipt.read,
            own: Some(receipt.own),
            searched: receipt.searched,
            direct_definitions: receipt.direct.definitions.tokens,
            direct_tools: receipt.direct.definitions.tools as u64,
            calls: calls.collect(),
        };
        self.shared.records.receipt(run, taken);
    }
}

/// What is counted, unless it takes too long or nobody wants it any more.
async fn in_time<T>(
    counted: impl Future<Output = Result<T, Unloadable>>,
    cancel: &CancellationToken,
) -> Result<T, Uncounted> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(Uncounted::Cancelled),
        counted = timeout(PATIENCE, counted) => Ok(counted.map_err(|_| Uncounted::Late)??),
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
        assert_eq!(waited, Err(Uncounted::Cancelled));
        assert!(begun.elapsed().is_zero());
    }
}
