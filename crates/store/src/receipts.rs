//! Token costs of runs: one receipt per run, summed over many runs.

use std::collections::{BTreeMap, HashMap};

use accounting::{CallBytes, RecordedReceipt, RunCost, ToolTokens};
use types::{RunId, ToolRef};

use crate::connection::{Connection, SqlRow, Statement, Tables};
use crate::rows::{cut, number};

/// Calls that are not possible as tool calls of a model: calls of tool files, and requests for resources and
/// prompts (recorded under their method names).
const OTHER_CALLS: &str =
    "(outcome = 'in_sandbox' OR tool IN ('resources/read', 'prompts/get', 'completion/complete'))";

/// Writes a receipt unless its run is missing.
pub(crate) async fn write(
    connection: &mut Connection,
    run: &RunId,
    receipt: &RecordedReceipt,
) -> Result<(), sqlx::Error> {
    let statement = Statement::new(
        "INSERT INTO receipts (run, definitions, written, read, searched, direct_definitions, direct_tools, own, asked_ms) \
         SELECT id, $2, $3, $4, $5, $6, $7, $8, asked_ms FROM runs WHERE id = $1 ON CONFLICT DO NOTHING",
    )
    .bind(run.as_str())
    .bind(number(receipt.definitions))
    .bind(number(receipt.written))
    .bind(number(receipt.read))
    .bind(number(receipt.searched))
    .bind(number(receipt.direct_definitions))
    .bind(number(receipt.direct_tools))
    .bind(receipt.receipt_text.map(number));
    if connection.execute(statement).await? == 0 {
        return Ok(());
    }
    for ((server, tool), tokens) in by_recorded_name(receipt) {
        let statement = Statement::new(
            "INSERT INTO receipt_calls (run, server, tool, calls, written, read, asked_ms) \
             SELECT run, $2, $3, $4, $5, $6, asked_ms FROM receipts WHERE run = $1 ON CONFLICT DO NOTHING",
        )
        .bind(run.as_str())
        .bind(server)
        .bind(tool)
        .bind(number(tokens.calls))
        .bind(number(tokens.written))
        .bind(number(tokens.read));
        connection.execute(statement).await?;
    }
    Ok(())
}

/// Tokens of the receipt's tools by recorded name. Long names are truncated, so two names may become equal.
fn by_recorded_name(receipt: &RecordedReceipt) -> BTreeMap<(String, String), ToolTokens> {
    let mut named: BTreeMap<(String, String), ToolTokens> = BTreeMap::new();
    for (tool, tokens) in &receipt.calls {
        let sum = named.entry((cut(&tool.server), cut(&tool.tool))).or_default();
        sum.calls += tokens.calls;
        sum.written += tokens.written;
        sum.read += tokens.read;
    }
    named
}

/// Costs of all finished runs of programs since this time, oldest first.
pub(crate) async fn costs(
    connection: &mut Connection,
    principal: &str,
    since_ms: Option<i64>,
) -> Result<Vec<RunCost>, sqlx::Error> {
    let has_receipts = connection.has(Tables::Receipts).await?;
    let wanted = "principal = $1 AND front <> 'call' AND (language IS NOT NULL OR code_hash IS NOT NULL) AND status IS NOT NULL \
         AND asked_ms >= $2";
    let since = since_ms.unwrap_or(i64::MIN);
    let asking = |sql: String| Statement::new(sql).bind(principal).bind(since);
    let runs = connection
        .fetch_all(asking(format!("SELECT * FROM runs WHERE {wanted} ORDER BY seq")))
        .await?;
    let mut costs: Vec<RunCost> = runs.iter().map(cost).collect::<Result<_, _>>()?;
    let places: HashMap<String, usize> = costs
        .iter()
        .enumerate()
        .map(|(place, cost)| (cost.run.clone(), place))
        .collect();
    let place = |row: &SqlRow| Ok::<_, sqlx::Error>(places.get(&row.get::<String>("run")?).copied());
    let calls = asking(format!(
        "SELECT run, server, tool, count(*) AS calls, CAST(sum(arguments_bytes) AS BIGINT) AS arguments_bytes, \
         CAST(sum(coalesce(result_bytes, 0)) AS BIGINT) AS answer_bytes, \
         sum(CASE WHEN outcome = 'answered' THEN 1 ELSE 0 END) AS answered, {OTHER_CALLS} AS other_calls \
         FROM calls WHERE run IN (SELECT id FROM runs WHERE {wanted}) GROUP BY run, server, tool, other_calls"
    ));
    for row in &connection.fetch_all(calls).await? {
        if let Some(place) = place(row)? {
            match row.get("other_calls")? {
                true => costs[place].other_calls += count(row, "calls")?,
                false => costs[place].calls.push(call_bytes(row)?),
            }
        }
    }
    if !has_receipts {
        return Ok(costs);
    }
    let those = format!("WHERE run IN (SELECT id FROM runs WHERE {wanted})");
    let receipts = asking(format!("SELECT * FROM receipts {those}"));
    for row in &connection.fetch_all(receipts).await? {
        if let Some(place) = place(row)? {
            costs[place].receipt = Some(receipt(row)?);
        }
    }
    let tools = asking(format!("SELECT * FROM receipt_calls {those}"));
    for row in &connection.fetch_all(tools).await? {
        if let Some(place) = place(row)?
            && let Some(receipt) = &mut costs[place].receipt
        {
            receipt.calls.extend([tool_tokens(row)?]);
        }
    }
    Ok(costs)
}

pub(crate) async fn of(
    connection: &mut Connection,
    run: &str,
) -> Result<Option<RecordedReceipt>, sqlx::Error> {
    if !connection.has(Tables::Receipts).await? {
        return Ok(None);
    }
    let asked = Statement::new("SELECT * FROM receipts WHERE run = $1").bind(run);
    let Some(row) = connection.fetch_optional(asked).await? else {
        return Ok(None);
    };
    let asked = Statement::new("SELECT * FROM receipt_calls WHERE run = $1 ORDER BY server, tool").bind(run);
    let calls = connection.fetch_all(asked).await?;
    let mut receipt = receipt(&row)?;
    receipt.calls = calls.iter().map(tool_tokens).collect::<Result<_, _>>()?;
    Ok(Some(receipt))
}

fn cost(row: &SqlRow) -> Result<RunCost, sqlx::Error> {
    let bytes = |name| Ok::<u64, sqlx::Error>(unsigned(row.get::<Option<i64>>(name)?));
    let status: Option<String> = row.get("status")?;
    // Searches before a refused run are also counted in the next run, so skip them here.
    let search_bytes = match status.as_deref() {
        Some("refused") => 0,
        _ => unsigned(row.get_if_there("search_bytes")?),
    };
    Ok(RunCost {
        run: row.get("id")?,
        process: row.get("process")?,
        client: row.get_if_there("client")?,
        front: row.get("front")?,
        asked_ms: row.get("asked_ms")?,
        completed: status.as_deref() == Some("completed"),
        code_bytes: bytes("code_bytes")?,
        shown_bytes: bytes("result_bytes")? + bytes("stdout_bytes")? + bytes("stderr_bytes")?,
        search_bytes,
        receipt: None,
        calls: Vec::new(),
        other_calls: 0,
    })
}

fn call_bytes(row: &SqlRow) -> Result<CallBytes, sqlx::Error> {
    Ok(CallBytes {
        tool: tool(row)?,
        calls: count(row, "calls")?,
        arguments_bytes: count(row, "arguments_bytes")?,
        answer_bytes: count(row, "answer_bytes")?,
        answered: count(row, "answered")?,
    })
}

fn receipt(row: &SqlRow) -> Result<RecordedReceipt, sqlx::Error> {
    Ok(RecordedReceipt {
        definitions: count(row, "definitions")?,
        written: count(row, "written")?,
        read: count(row, "read")?,
        receipt_text: row.get_if_there("own")?.map(|own| unsigned(Some(own))),
        searched: count(row, "searched")?,
        direct_definitions: count(row, "direct_definitions")?,
        direct_tools: count(row, "direct_tools")?,
        calls: BTreeMap::new(),
    })
}

fn tool_tokens(row: &SqlRow) -> Result<(ToolRef, ToolTokens), sqlx::Error> {
    let tokens = ToolTokens {
        calls: count(row, "calls")?,
        written: count(row, "written")?,
        read: count(row, "read")?,
    };
    Ok((tool(row)?, tokens))
}

fn tool(row: &SqlRow) -> Result<ToolRef, sqlx::Error> {
    let (server, tool): (String, String) = (row.get("server")?, row.get("tool")?);
    Ok(ToolRef::new(server, tool))
}

fn count(row: &SqlRow, name: &str) -> Result<u64, sqlx::Error> {
    Ok(unsigned(Some(row.get(name)?)))
}

fn unsigned(number: Option<i64>) -> u64 {
    number.map_or(0, |number| u64::try_from(number).unwrap_or_default())
}
