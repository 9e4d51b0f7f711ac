//! The first calls of each run, and totals over all its calls.

use std::collections::HashMap;

use types::ToolRef;

use crate::connection::{Connection, Statement};

/// Maximum calls of a run in a list.
const MAX_CALLS: u32 = 200;

/// Outcomes of calls that succeeded.
const SUCCESSES: [&str; 2] = ["answered", "in_sandbox"];

/// One call of a run, without arguments and answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunCall {
    /// Server and tool; if they were not resolved, the names in the request.
    pub tool: ToolRef,
    /// Start, in milliseconds since 1970.
    pub begun_ms: i64,
    /// Duration in microseconds.
    pub duration_us: i64,
    /// `answered`, `in_sandbox` (a tool file), `tool_error`, `cancelled`, or the kind of the failure.
    pub outcome: String,
}

/// Totals over all calls of a run. Quantiles of the duration are in microseconds; 0 without calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallTotals {
    /// Number of calls.
    pub calls: i64,
    /// Calls that did not succeed.
    pub failed: i64,
    /// Median.
    pub p50_us: i64,
    /// 95th percentile.
    pub p95_us: i64,
    /// 99th percentile.
    pub p99_us: i64,
}

// === impl RunCall ===

impl RunCall {
    /// Whether the call succeeded.
    pub fn is_success(&self) -> bool {
        SUCCESSES.contains(&self.outcome.as_str())
    }
}

/// The first calls of each run.
pub(super) async fn of_runs(
    connection: &mut Connection,
    runs: &[&str],
) -> Result<HashMap<String, Vec<RunCall>>, sqlx::Error> {
    let mut query = Statement::new(
        "SELECT * FROM (SELECT run, seq, server, tool, begun_ms, duration_us, outcome, \
         ROW_NUMBER() OVER (PARTITION BY run ORDER BY begun_ms, seq) AS place FROM calls WHERE run IN ",
    );
    query.push_list(runs.iter().copied());
    query.push(") AS numbered WHERE place <= ");
    query
        .push_bind(i64::from(MAX_CALLS))
        .push(" ORDER BY begun_ms, seq");
    let mut found: HashMap<String, Vec<RunCall>> = HashMap::new();
    for row in connection.fetch_all(query).await? {
        let call = RunCall {
            tool: ToolRef {
                server: row.get("server")?,
                tool: row.get("tool")?,
            },
            begun_ms: row.get("begun_ms")?,
            duration_us: row.get("duration_us")?,
            outcome: row.get("outcome")?,
        };
        found.entry(row.get("run")?).or_default().push(call);
    }
    Ok(found)
}

/// The totals of each run that called a tool.
pub(super) async fn totals(
    connection: &mut Connection,
    runs: &[&str],
) -> Result<HashMap<String, CallTotals>, sqlx::Error> {
    // The p-quantile of n calls is the duration in place n·p/100, rounded up.
    let quantile = |part: u32| {
        format!("MAX(CASE WHEN place = (calls * {part} + 99) / 100 THEN duration_us END) AS p{part}_us")
    };
    let mut query = Statement::new(format!(
        "SELECT run, MAX(calls) AS calls, COUNT(CASE WHEN outcome NOT IN ('{}', '{}') THEN 1 END) AS failed, {}, {}, {} \
         FROM (SELECT run, duration_us, outcome, COUNT(*) OVER (PARTITION BY run) AS calls, \
         ROW_NUMBER() OVER (PARTITION BY run ORDER BY duration_us) AS place FROM calls WHERE run IN ",
        SUCCESSES[0],
        SUCCESSES[1],
        quantile(50),
        quantile(95),
        quantile(99),
    ));
    query.push_list(runs.iter().copied());
    query.push(") AS ranked GROUP BY run");
    let rows = connection.fetch_all(query).await?;
    let totals = rows.iter().map(|row| {
        let totals = CallTotals {
            calls: row.get("calls")?,
            failed: row.get("failed")?,
            p50_us: row.get("p50_us")?,
            p95_us: row.get("p95_us")?,
            p99_us: row.get("p99_us")?,
        };
        Ok((row.get("run")?, totals))
    });
    totals.collect()
}
