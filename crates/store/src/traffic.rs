//! Totals of programs' runs and calls in a time span.

use serde::Serialize;

use crate::connection::{Connection, Statement, Tables};

/// Totals since a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Accepted runs.
    pub runs: u64,
    /// Tool calls of these runs.
    pub calls: u64,
    /// Bytes of the tools' answers.
    pub answered_bytes: u64,
    /// Bytes of the runs' results and output.
    pub shown_bytes: u64,
    /// Runs of clients' programs with a receipt.
    pub counted: u64,
    /// Tokens (o200k) saved compared with direct calls, without definitions; negative if the runs cost more.
    pub saved: i64,
}

impl Traffic {
    /// Bytes of answers that stayed in the sandbox.
    pub fn kept_out(&self) -> u64 {
        self.answered_bytes.saturating_sub(self.shown_bytes)
    }
}

pub(crate) async fn since(
    connection: &mut Connection,
    principal: &str,
    ms: i64,
) -> Result<Traffic, sqlx::Error> {
    let sql = "SELECT COUNT(*) AS runs, \
         CAST(SUM(COALESCE(result_bytes, 0) + COALESCE(stdout_bytes, 0) + COALESCE(stderr_bytes, 0)) AS BIGINT) AS shown \
         FROM runs WHERE principal = $1 AND asked_ms >= $2";
    let runs = connection
        .fetch_one(Statement::new(sql).bind(principal).bind(ms))
        .await?;
    let sql = "SELECT COUNT(*) AS calls, CAST(SUM(COALESCE(calls.result_bytes, 0)) AS BIGINT) AS answered \
         FROM calls JOIN runs ON runs.id = calls.run WHERE runs.principal = $1 AND runs.asked_ms >= $2";
    let calls = connection
        .fetch_one(Statement::new(sql).bind(principal).bind(ms))
        .await?;
    let (counted, saved) = saved(connection, principal, ms).await?;
    let number = |value: Option<i64>| u64::try_from(value.unwrap_or_default()).unwrap_or_default();
    Ok(Traffic {
        runs: number(runs.get("runs")?),
        calls: number(calls.get("calls")?),
        answered_bytes: number(calls.get("answered")?),
        shown_bytes: number(runs.get("shown")?),
        counted: number(Some(counted)),
        saved,
    })
}

/// Number of receipts, and the tokens that they saved.
async fn saved(connection: &mut Connection, principal: &str, ms: i64) -> Result<(i64, i64), sqlx::Error> {
    if !connection.has(Tables::Receipts).await? {
        return Ok((0, 0));
    }
    let sql = "SELECT COUNT(*) AS counted, CAST(COALESCE(SUM(\
         (SELECT COALESCE(SUM(written + read), 0) FROM receipt_calls WHERE receipt_calls.run = receipts.run) \
         - receipts.written - receipts.read - receipts.searched), 0) AS BIGINT) AS saved \
         FROM runs JOIN receipts ON receipts.run = runs.id WHERE runs.principal = $1 AND runs.asked_ms >= $2 \
         AND runs.front = 'mcp'";
    let row = connection
        .fetch_one(Statement::new(sql).bind(principal).bind(ms))
        .await?;
    Ok((row.get("counted")?, row.get("saved")?))
}
