//! Pages of records, in the order of their numbers.

use std::collections::{HashMap, HashSet};

use super::positions::{SinkBacklog, SinkSource};
use super::record::{CalledTool, SentCall, SentEvent, SentRecord, SentRun};
use super::{Payloads, SinkSelection};
use crate::audit::{AuditRow, mask_tokens};
use crate::connection::{Connection, SqlRow, Statement};
use crate::execution::Execution;
use crate::reader;
use crate::rows::TASK;

/// Maximum characters of a call's arguments.
const MAX_ARGUMENTS: i64 = 16 * 1024;

/// Most tools of a run, in the order of their first calls.
const MAX_TOOLS: usize = 100;

/// Outcomes of calls that reached no server.
const NOT_SENT: [&str; 5] = [
    "denied",
    "in_sandbox",
    "unknown_tool",
    "not_loaded",
    "invalid_arguments",
];

/// Some records of one source.
#[derive(Debug, Clone, PartialEq)]
pub struct SinkPage {
    /// The source of the records.
    pub source: SinkSource,
    /// Number of the page's last record, even if removed.
    pub until: i64,
    /// The records, in order.
    pub records: Vec<SentRecord>,
    /// Number of the page's records that retention has removed.
    pub removed: u64,
}

// === impl SinkPage ===

impl SinkPage {
    /// The page of a database without tables.
    pub(super) fn empty(backlog: SinkBacklog) -> SinkPage {
        SinkPage {
            source: backlog.source,
            until: backlog.after,
            records: Vec::new(),
            removed: 0,
        }
    }
}

pub(super) async fn page(
    connection: &mut Connection,
    backlog: SinkBacklog,
    selection: SinkSelection,
) -> Result<SinkPage, sqlx::Error> {
    let until = backlog.last.min(backlog.after.saturating_add(selection.limit));
    let mut found = match backlog.source {
        SinkSource::Audit => audit(connection, backlog.after, until).await?,
        SinkSource::Process(process) => {
            let range = Range {
                process,
                after: backlog.after,
                until,
            };
            let mut found = runs(connection, range, selection.payloads).await?;
            found.extend(calls(connection, range, selection.payloads).await?);
            found.extend(events(connection, range, selection.payloads).await?);
            found
        }
    };
    found.sort_by_key(|(number, _)| *number);
    let removed = (until - backlog.after)
        .unsigned_abs()
        .saturating_sub(found.len() as u64);
    Ok(SinkPage {
        source: backlog.source,
        until,
        records: found.into_iter().map(|(_, record)| record).collect(),
        removed,
    })
}

type Numbered = (i64, SentRecord);

#[derive(Debug, Clone, Copy)]
struct Range {
    process: i64,
    after: i64,
    until: i64,
}

// === impl Range ===

impl Range {
    /// Adds the condition on the numbers of a table.
    fn select(self, mut query: Statement, table: &str) -> Statement {
        query
            .push(&format!(" WHERE {table}.writer = "))
            .push_bind(self.process);
        query
            .push(&format!(" AND {table}.number > "))
            .push_bind(self.after);
        query
            .push(&format!(" AND {table}.number <= "))
            .push_bind(self.until);
        query
    }
}

async fn audit(connection: &mut Connection, after: i64, until: i64) -> Result<Vec<Numbered>, sqlx::Error> {
    let sql = "SELECT * FROM audit WHERE sequence > $1 AND sequence <= $2 ORDER BY sequence";
    let rows = connection
        .fetch_all(Statement::new(sql).bind(after).bind(until))
        .await?;
    let read = rows.iter().map(|row| {
        let row = AuditRow::read(row)?;
        Ok((row.sequence, SentRecord::Audit(Box::new(row))))
    });
    read.collect()
}

async fn runs(
    connection: &mut Connection,
    range: Range,
    payloads: Payloads,
) -> Result<Vec<Numbered>, sqlx::Error> {
    let query = range.select(Statement::new("SELECT * FROM runs"), "runs");
    let rows = connection.fetch_all(query).await?;
    let mut runs: Vec<(i64, SentRun)> = rows
        .iter()
        .map(|row| run(row, payloads))
        .collect::<Result<_, _>>()?;
    let logged = runs.iter().filter(|(_, run)| run.execution.is_some());
    let ids: Vec<&str> = logged.map(|(_, run)| run.run.id.as_str()).collect();
    let mut called = called(connection, &ids).await?;
    for (_, run) in &mut runs {
        run.called = called.remove(&run.run.id).unwrap_or_default();
    }
    let numbered = runs.into_iter();
    Ok(numbered
        .map(|(number, run)| (number, SentRecord::Run(Box::new(run))))
        .collect())
}

fn run(row: &SqlRow, payloads: Payloads) -> Result<(i64, SentRun), sqlx::Error> {
    let mut run = reader::run(row, &HashSet::new())?;
    for text in [&mut run.client, &mut run.session, &mut run.error_kind] {
        *text = text.as_deref().map(mask_tokens);
    }
    let written = row.get_if_there::<String>("execution")?;
    let execution: Option<Execution> = written.and_then(|json| serde_json::from_str(&json).ok());
    let sent = SentRun {
        run,
        execution: match payloads {
            Payloads::Included => execution,
            Payloads::Omitted => execution.map(Execution::without_texts),
        },
        called: Vec::new(),
    };
    Ok((row.get("number")?, sent))
}

/// The tools that these runs called, by run.
async fn called(
    connection: &mut Connection,
    runs: &[&str],
) -> Result<HashMap<String, Vec<CalledTool>>, sqlx::Error> {
    let mut found: HashMap<String, Vec<CalledTool>> = HashMap::new();
    if runs.is_empty() {
        return Ok(found);
    }
    let mut query = Statement::new("SELECT run, server, tool, COUNT(*) AS calls FROM calls WHERE run IN ");
    query.push_list(runs.iter().copied());
    query.push(" AND outcome NOT IN ").push_list(NOT_SENT);
    query.push(" GROUP BY run, server, tool ORDER BY MIN(seq)");
    for row in connection.fetch_all(query).await? {
        let tools = found.entry(row.get("run")?).or_default();
        if tools.len() < MAX_TOOLS {
            tools.push(CalledTool {
                server: mask_tokens(&row.get::<String>("server")?),
                tool: mask_tokens(&row.get::<String>("tool")?),
                calls: row.get("calls")?,
            });
        }
    }
    Ok(found)
}

async fn calls(
    connection: &mut Connection,
    range: Range,
    payloads: Payloads,
) -> Result<Vec<Numbered>, sqlx::Error> {
    let arguments = match payloads {
        Payloads::Included => format!("substr(calls.arguments, 1, {MAX_ARGUMENTS})"),
        Payloads::Omitted => "CAST(NULL AS TEXT)".to_owned(),
    };
    let query = Statement::new(format!(
        "SELECT calls.number AS number, calls.seq AS seq, calls.begun_ms AS begun_ms, calls.server AS server, \
         calls.tool AS tool, calls.outcome AS outcome, calls.duration_us AS duration_us, \
         calls.arguments_bytes AS arguments_bytes, calls.result_bytes AS result_bytes, {arguments} AS arguments, \
         calls.run AS run, calls.virtual_server AS virtual_server, runs.principal AS principal, \
         runs.session AS session FROM calls LEFT JOIN runs ON runs.id = calls.run"
    ));
    let rows = connection.fetch_all(range.select(query, "calls")).await?;
    rows.iter().map(call).collect()
}

fn call(row: &SqlRow) -> Result<Numbered, sqlx::Error> {
    let masked = |column| row.get::<String>(column).map(|text| mask_tokens(&text));
    let call = SentCall {
        id: format!("c{}", row.get::<i64>("seq")?),
        at_ms: row.get("begun_ms")?,
        server: masked("server")?,
        tool: masked("tool")?,
        outcome: masked("outcome")?,
        duration_us: row.get("duration_us")?,
        arguments_bytes: row.get("arguments_bytes")?,
        result_bytes: row.get("result_bytes")?,
        arguments: row
            .get::<Option<String>>("arguments")?
            .map(|text| mask_tokens(&text)),
        run: row.get("run")?,
        principal: row.get("principal")?,
        session: row.get("session")?,
        virtual_server: row.get("virtual_server")?,
    };
    Ok((row.get("number")?, SentRecord::Call(Box::new(call))))
}

async fn events(
    connection: &mut Connection,
    range: Range,
    payloads: Payloads,
) -> Result<Vec<Numbered>, sqlx::Error> {
    let query = Statement::new(
        "SELECT events.number AS number, events.seq AS seq, events.at_ms AS at_ms, events.kind AS kind, \
         events.detail AS detail, events.run AS run, events.virtual_server AS virtual_server, \
         runs.principal AS principal, runs.session AS session FROM events LEFT JOIN runs ON runs.id = events.run",
    );
    let rows = connection.fetch_all(range.select(query, "events")).await?;
    rows.iter().map(|row| event(row, payloads)).collect()
}

fn event(row: &SqlRow, payloads: Payloads) -> Result<Numbered, sqlx::Error> {
    let kind: String = row.get("kind")?;
    let detail: String = row.get("detail")?;
    let event = SentEvent {
        id: format!("e{}", row.get::<i64>("seq")?),
        at_ms: row.get("at_ms")?,
        // The words of a task are a payload, because a person wrote them.
        detail: (payloads == Payloads::Included || kind != TASK).then(|| mask_tokens(&detail)),
        kind,
        run: row.get("run")?,
        principal: row.get("principal")?,
        session: row.get("session")?,
        virtual_server: row.get("virtual_server")?,
    };
    Ok((row.get("number")?, SentRecord::Event(Box::new(event))))
}
