//! Counts what runs cost: asks the broker what their calls would have cost a model, and keeps what was counted.

use broker::Tally;
use gateway::{DirectCost, Receipt};
use store::{CallsTaken, ReceiptTaken};
use types::RunId;

use crate::Server;
use crate::programs::Counted;

impl Server {
    /// What counts the calls of a run, if that is wanted.
    pub(crate) fn tally(&self, wanted: bool) -> Option<Tally> {
        wanted.then(|| Tally::new(self.shared.receipts.counter.clone()))
    }

    /// What a run would have cost without codeyard, if it was counted.
    pub(crate) async fn direct(&self, tally: Option<Tally>) -> Option<DirectCost> {
        let tally = tally?;
        let counted = async {
            let shared = &self.shared;
            Ok::<_, tokens::Unloadable>(DirectCost {
                calls: tally.total().await?,
                definitions: shared
                    .broker
                    .definitions(&shared.principal, &shared.receipts.counter)
                    .await?,
            })
        };
        match counted.await {
            Ok(direct) => Some(direct),
            Err(error) => {
                tracing::warn!("there is no receipt: {error}");
                None
            }
        }
    }

    /// The receipt of a program from the command line, as if a client had sent it.
    pub(crate) async fn receipt_of(&self, ran: Counted, direct: DirectCost) -> Option<Receipt> {
        let counter = self.shared.receipts.counter.clone();
        let run = ran.executed.run_id.clone();
        let counted = tokio::task::spawn_blocking(move || {
            let tokenizer = counter.load().ok()?;
            let Counted {
                executed,
                code,
                wall_time,
            } = ran;
            Some(gateway::receipt_of(
                &executed, &code, wall_time, direct, tokenizer,
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
