//! What runs cost in tokens: receipts are written one by one, and read for sums over many runs.

use std::collections::{BTreeMap, HashMap};

use accounting::{CallBytes, RecordedReceipt, RunCost, ToolTokens};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};
use types::{RunId, ToolRef};

use crate::database::{self, Tables};
use crate::rows::{cut, number};

/// Calls that no model could have made as calls of tools: those of tool files, and requests for resources and prompts, which
/// are recorded under the names of their methods.
const OTHER_CALLS: &str =
    "(outcome = 'in_sandbox' OR tool IN ('resources/read', 'prompts/get', 'completion/complete'))";

/// Writes a receipt, unless its run is not in the database.
pub(crate) async fn write(
    connection: &mut SqliteConnection,
    run: &RunId,
    receipt: &RecordedReceipt,
) -> Result<(), sqlx::Error> {
    let written = sqlx::query(
        "INSERT INTO receipts (run, definitions, written, read, searched, direct_definitions, direct_tools, own) \
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE EXISTS (SELECT 1 FROM runs WHERE id = ?1) \
         ON CONFLICT (run) DO NOTHING",
    )
    .bind(run.to_string())
    .bind(number(receipt.definitions))
    .bind(number(receipt.written))
    .bind(number(receipt.read))
    .bind(number(receipt.searched))
    .bind(number(receipt.direct_definitions))
    .bind(number(receipt.direct_tools))
    .bind(receipt.receipt_text.map(number))
    .execute(&mut *connection)
    .await?;
    if written.rows_affected() == 0 {
        return Ok(());
    }
    for (tool, calls) in &receipt.calls {
        sqlx::query(
            "INSERT INTO receipt_calls (run, server, tool, calls, written, read) VALUES (?, ?, ?, ?, ?, ?) \
             ON CONFLICT (run, server, tool) DO UPDATE SET calls = calls + excluded.calls, \
             written = written + excluded.written, read = read + excluded.read",
        )
        .bind(run.to_string())
        .bind(cut(&tool.server))
        .bind(cut(&tool.tool))
        .bind(number(calls.calls))
        .bind(number(calls.written))
        .bind(number(calls.read))
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// The cost of every run of a program that has ended, since this time, the oldest first.
pub(crate) async fn costs(
    connection: &mut SqliteConnection,
    principal: &str,
    since_ms: Option<i64>,
) -> Result<Vec<RunCost>, sqlx::Error> {
    let has_receipts = database::has(connection, Tables::Receipts).await?;
    let wanted = "principal = ? AND front <> 'call' AND (language IS NOT NULL OR code_hash IS NOT NULL) AND status IS NOT NULL \
         AND asked_ms >= ?";
    let since = since_ms.unwrap_or(i64::MIN);
    let runs = sqlx::query(sqlx::AssertSqlSafe(format!(
        "SELECT * FROM runs WHERE {wanted} ORDER BY seq"
    )))
    .bind(principal.to_owned())
    .bind(since)
    .fetch_all(&mut *connection)
    .await?;
    let mut costs: Vec<RunCost> = runs.iter().map(cost).collect::<Result<_, _>>()?;
    let places: HashMap<String, usize> = costs
        .iter()
        .enumerate()
        .map(|(place, cost)| (cost.run.clone(), place))
        .collect();
    let calls = sqlx::query(sqlx::AssertSqlSafe(format!(
        "SELECT run, server, tool, count(*) AS calls, sum(arguments_bytes) AS arguments_bytes, \
         sum(coalesce(result_bytes, 0)) AS answer_bytes, sum(outcome = 'answered') AS answered, \
         {OTHER_CALLS} AS other_calls FROM calls WHERE run IN (SELECT id FROM runs WHERE {wanted}) GROUP BY run, server, tool, other_calls"
    )))
    .bind(principal.to_owned())
    .bind(since)
    .fetch_all(&mut *connection)
    .await?;
    for row in &calls {
        if let Some(place) = places.get(row.try_get::<&str, _>("run")?) {
            match row.try_get("other_calls")? {
                true => costs[*place].other_calls += count(row, "calls")?,
                false => costs[*place].calls.push(call_bytes(row)?),
            }
        }
    }
    if !has_receipts {
        return Ok(costs);
    }
    let those = format!("WHERE run IN (SELECT id FROM runs WHERE {wanted})");
    let rows = sqlx::query(sqlx::AssertSqlSafe(format!("SELECT * FROM receipts {those}")))
        .bind(principal.to_owned())
        .bind(since)
        .fetch_all(&mut *connection)
        .await?;
    for row in &rows {
        if let Some(place) = places.get(row.try_get::<&str, _>("run")?) {
            costs[*place].receipt = Some(receipt(row)?);
        }
    }
    let rows = sqlx::query(sqlx::AssertSqlSafe(format!(
        "SELECT * FROM receipt_calls {those}"
    )))
    .bind(principal.to_owned())
    .bind(since)
    .fetch_all(connection)
    .await?;
    for row in &rows {
        if let Some(place) = places.get(row.try_get::<&str, _>("run")?)
            && let Some(receipt) = &mut costs[*place].receipt
        {
            receipt.calls.extend([tool_tokens(row)?]);
        }
    }
    Ok(costs)
}

/// The receipt of one run.
pub(crate) async fn of(
    connection: &mut SqliteConnection,
    run: &str,
) -> Result<Option<RecordedReceipt>, sqlx::Error> {
    if !database::has(connection, Tables::Receipts).await? {
        return Ok(None);
    }
    let row = sqlx::query("SELECT * FROM receipts WHERE run = ?")
        .bind(run.to_owned())
        .fetch_optional(&mut *connection)
        .await?;
    let Some(row) = row else { return Ok(None) };
    let calls = sqlx::query("SELECT * FROM receipt_calls WHERE run = ? ORDER BY server, tool")
        .bind(run.to_owned())
        .fetch_all(connection)
        .await?;
    let mut receipt = receipt(&row)?;
    receipt.calls = calls.iter().map(tool_tokens).collect::<Result<_, _>>()?;
    Ok(Some(receipt))
}

fn cost(row: &SqliteRow) -> Result<RunCost, sqlx::Error> {
    let bytes = |name| Ok::<u64, sqlx::Error>(unsigned(row.try_get::<Option<i64>, _>(name)?));
    let status: Option<&str> = row.try_get("status")?;
    // The searches before a run that was refused belong to the next one, which has them too.
    let search_bytes = match status {
        Some("refused") => 0,
        _ => unsigned(if_there(row, "search_bytes")?),
    };
    Ok(RunCost {
        run: row.try_get("id")?,
        process: row.try_get("process")?,
        client: if_there(row, "client")?,
        front: row.try_get("front")?,
        asked_ms: row.try_get("asked_ms")?,
        completed: status == Some("completed"),
        code_bytes: bytes("code_bytes")?,
        shown_bytes: bytes("result_bytes")? + bytes("stdout_bytes")? + bytes("stderr_bytes")?,
        search_bytes,
        receipt: None,
        calls: Vec::new(),
        other_calls: 0,
    })
}

/// A column that a database of an older codeyard does not have.
pub(crate) fn if_there<'r, T>(row: &'r SqliteRow, name: &str) -> Result<Option<T>, sqlx::Error>
where
    Option<T>: sqlx::Decode<'r, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite>,
{
    match row.try_get(name) {
        Err(sqlx::Error::ColumnNotFound(_)) => Ok(None),
        found => found,
    }
}

fn call_bytes(row: &SqliteRow) -> Result<CallBytes, sqlx::Error> {
    Ok(CallBytes {
        tool: tool(row)?,
        calls: count(row, "calls")?,
        arguments_bytes: count(row, "arguments_bytes")?,
        answer_bytes: count(row, "answer_bytes")?,
        answered: count(row, "answered")?,
    })
}

fn receipt(row: &SqliteRow) -> Result<RecordedReceipt, sqlx::Error> {
    Ok(RecordedReceipt {
        definitions: count(row, "definitions")?,
        written: count(row, "written")?,
        read: count(row, "read")?,
        receipt_text: if_there(row, "own")?.map(|own| unsigned(Some(own))),
        searched: count(row, "searched")?,
        direct_definitions: count(row, "direct_definitions")?,
        direct_tools: count(row, "direct_tools")?,
        calls: BTreeMap::new(),
    })
}

fn tool_tokens(row: &SqliteRow) -> Result<(ToolRef, ToolTokens), sqlx::Error> {
    let tokens = ToolTokens {
        calls: count(row, "calls")?,
        written: count(row, "written")?,
        read: count(row, "read")?,
    };
    Ok((tool(row)?, tokens))
}

fn tool(row: &SqliteRow) -> Result<ToolRef, sqlx::Error> {
    let (server, tool): (String, String) = (row.try_get("server")?, row.try_get("tool")?);
    Ok(ToolRef::new(server, tool))
}

fn count(row: &SqliteRow, name: &str) -> Result<u64, sqlx::Error> {
    Ok(unsigned(Some(row.try_get(name)?)))
}

fn unsigned(number: Option<i64>) -> u64 {
    number.map_or(0, |number| u64::try_from(number).unwrap_or_default())
}
