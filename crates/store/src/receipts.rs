//! What runs cost in tokens: written as receipts are taken, read for sums over many runs.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};
use types::RunId;

use crate::database::{self, Tables};
use crate::rows::{cut, number};

/// Which calls no model could have made as calls of tools: those of tool files, and requests for resources and prompts, which
/// are recorded under the names of their methods.
const ASIDE: &str =
    "(outcome = 'in_sandbox' OR tool IN ('resources/read', 'prompts/get', 'completion/complete'))";

/// What a receipt says, as it is kept. Tokens of o200k.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReceiptTaken {
    /// Of the tools that the model sees and the instructions.
    pub definitions: u64,
    /// What the model wrote.
    pub written: u64,
    /// What it was sent.
    pub read: u64,
    /// Of the receipt itself, which is part of that; `None` in records of an older codeyard.
    pub own: Option<u64>,
    /// Of the searches since the run before.
    pub searched: u64,
    /// Of the definitions of all tools that it could have called itself.
    pub direct_definitions: u64,
    /// How many these are.
    pub direct_tools: u64,
    /// What it would have cost to make the calls itself, tool by tool.
    pub calls: Vec<CallsTaken>,
}

/// The calls of one tool in a receipt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallsTaken {
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// How many there were.
    pub calls: u64,
    /// Tokens of their arguments.
    pub written: u64,
    /// Tokens of their answers.
    pub read: u64,
}

/// One run as far as its cost goes.
#[derive(Debug, Clone, PartialEq)]
pub struct CostView {
    /// Its handle.
    pub run: String,
    /// Number of the codeyard process that it ran in.
    pub process: i64,
    /// What its client calls itself.
    pub client: Option<String>,
    /// `mcp`, `run` or `task`.
    pub front: String,
    /// When it was asked for, in milliseconds since 1970.
    pub asked_ms: i64,
    /// Whether it ran to its end.
    pub completed: bool,
    /// Bytes of the program.
    pub code_bytes: u64,
    /// Bytes of its result, its standard output and its standard error.
    pub shown_bytes: u64,
    /// Bytes that went to and fro for searches since the run before.
    pub search_bytes: u64,
    /// What was counted, if a receipt was taken.
    pub receipt: Option<ReceiptTaken>,
    /// Its calls of servers' tools as they are recorded, tool by tool.
    pub calls: Vec<CallBytes>,
    /// How many recorded calls are not among them: of tool files, which no client could have called, and of resources and
    /// prompts, for which a client has other ways.
    pub aside: u64,
}

/// The recorded calls of one tool in one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallBytes {
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// How many there were.
    pub calls: u64,
    /// Bytes of their arguments as JSON.
    pub arguments_bytes: u64,
    /// Bytes of their answers as the server sent them.
    pub answer_bytes: u64,
    /// How many were answered, and not by an error.
    pub answered: u64,
}

/// Writes a receipt. One whose run is not in the database is left out.
pub(crate) async fn write(
    connection: &mut SqliteConnection,
    run: &RunId,
    taken: &ReceiptTaken,
) -> Result<(), sqlx::Error> {
    let written = sqlx::query(
        "INSERT INTO receipts (run, definitions, written, read, searched, direct_definitions, direct_tools, own) \
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE EXISTS (SELECT 1 FROM runs WHERE id = ?1) \
         ON CONFLICT (run) DO NOTHING",
    )
    .bind(run.to_string())
    .bind(number(taken.definitions))
    .bind(number(taken.written))
    .bind(number(taken.read))
    .bind(number(taken.searched))
    .bind(number(taken.direct_definitions))
    .bind(number(taken.direct_tools))
    .bind(taken.own.map(number))
    .execute(&mut *connection)
    .await?;
    if written.rows_affected() == 0 {
        return Ok(());
    }
    for calls in &taken.calls {
        sqlx::query(
            "INSERT INTO receipt_calls (run, server, tool, calls, written, read) VALUES (?, ?, ?, ?, ?, ?) \
             ON CONFLICT (run, server, tool) DO UPDATE SET calls = calls + excluded.calls, \
             written = written + excluded.written, read = read + excluded.read",
        )
        .bind(run.to_string())
        .bind(cut(&calls.server))
        .bind(cut(&calls.tool))
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
) -> Result<Vec<CostView>, sqlx::Error> {
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
    let mut costs: Vec<CostView> = runs.iter().map(cost).collect::<Result<_, _>>()?;
    let places: std::collections::HashMap<String, usize> = costs
        .iter()
        .enumerate()
        .map(|(place, cost)| (cost.run.clone(), place))
        .collect();
    let calls = sqlx::query(sqlx::AssertSqlSafe(format!(
        "SELECT run, server, tool, count(*) AS calls, sum(arguments_bytes) AS arguments_bytes, \
         sum(coalesce(result_bytes, 0)) AS answer_bytes, sum(outcome = 'answered') AS answered, \
         {ASIDE} AS aside FROM calls WHERE run IN (SELECT id FROM runs WHERE {wanted}) GROUP BY run, server, tool, aside"
    )))
    .bind(principal.to_owned())
    .bind(since)
    .fetch_all(&mut *connection)
    .await?;
    for row in &calls {
        if let Some(place) = places.get(row.try_get::<&str, _>("run")?) {
            match row.try_get("aside")? {
                true => costs[*place].aside += count(row, "calls")?,
                false => costs[*place].calls.push(call_bytes(row)?),
            }
        }
    }
    if !has_receipts {
        return Ok(costs);
    }
    let those = format!("WHERE run IN (SELECT id FROM runs WHERE {wanted})");
    let taken = sqlx::query(sqlx::AssertSqlSafe(format!("SELECT * FROM receipts {those}")))
        .bind(principal.to_owned())
        .bind(since)
        .fetch_all(&mut *connection)
        .await?;
    for row in &taken {
        if let Some(place) = places.get(row.try_get::<&str, _>("run")?) {
            costs[*place].receipt = Some(receipt(row)?);
        }
    }
    let taken = sqlx::query(sqlx::AssertSqlSafe(format!(
        "SELECT * FROM receipt_calls {those}"
    )))
    .bind(principal.to_owned())
    .bind(since)
    .fetch_all(connection)
    .await?;
    for row in &taken {
        if let Some(place) = places.get(row.try_get::<&str, _>("run")?)
            && let Some(receipt) = &mut costs[*place].receipt
        {
            receipt.calls.push(calls_taken(row)?);
        }
    }
    Ok(costs)
}

/// The receipt of one run.
pub(crate) async fn of(
    connection: &mut SqliteConnection,
    run: &str,
) -> Result<Option<ReceiptTaken>, sqlx::Error> {
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
    receipt.calls = calls.iter().map(calls_taken).collect::<Result<_, _>>()?;
    Ok(Some(receipt))
}

fn cost(row: &SqliteRow) -> Result<CostView, sqlx::Error> {
    let bytes = |name| Ok::<u64, sqlx::Error>(unsigned(row.try_get::<Option<i64>, _>(name)?));
    let status: Option<&str> = row.try_get("status")?;
    // The searches before a run that was refused belong to the next one, which has them too.
    let search_bytes = match status {
        Some("refused") => 0,
        _ => unsigned(if_there(row, "search_bytes")?),
    };
    Ok(CostView {
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
        aside: 0,
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
        server: row.try_get("server")?,
        tool: row.try_get("tool")?,
        calls: count(row, "calls")?,
        arguments_bytes: count(row, "arguments_bytes")?,
        answer_bytes: count(row, "answer_bytes")?,
        answered: count(row, "answered")?,
    })
}

fn receipt(row: &SqliteRow) -> Result<ReceiptTaken, sqlx::Error> {
    Ok(ReceiptTaken {
        definitions: count(row, "definitions")?,
        written: count(row, "written")?,
        read: count(row, "read")?,
        own: if_there(row, "own")?.map(|own| unsigned(Some(own))),
        searched: count(row, "searched")?,
        direct_definitions: count(row, "direct_definitions")?,
        direct_tools: count(row, "direct_tools")?,
        calls: Vec::new(),
    })
}

fn calls_taken(row: &SqliteRow) -> Result<CallsTaken, sqlx::Error> {
    Ok(CallsTaken {
        server: row.try_get("server")?,
        tool: row.try_get("tool")?,
        calls: count(row, "calls")?,
        written: count(row, "written")?,
        read: count(row, "read")?,
    })
}

fn count(row: &SqliteRow, name: &str) -> Result<u64, sqlx::Error> {
    Ok(unsigned(Some(row.try_get(name)?)))
}

fn unsigned(number: Option<i64>) -> u64 {
    number.map_or(0, |number| u64::try_from(number).unwrap_or_default())
}
