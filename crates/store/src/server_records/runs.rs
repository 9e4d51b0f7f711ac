//! Runs of a virtual server, with their calls and events.

use std::collections::{HashMap, HashSet};

use types::ToolRef;

use super::calls::{CallTotals, RunCall};
use super::{Place, RunUsers, calls};
use crate::connection::{Connection, Statement, Value};
use crate::lease;
use crate::page::limit;
use crate::reader::{EventView, RunView, event, run, with_status};

/// Most events of a run in a list.
const MAX_EVENTS: u32 = 200;

/// Runs per statement about their events; the number of values in a statement is limited.
const RUNS_AT_ONCE: usize = 500;

/// Selects runs of a virtual server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Whose runs.
    pub users: RunUsers,
    /// A run has one of these statuses as in [`RunView::status`]; an empty list selects all runs.
    pub statuses: Vec<String>,
    /// Name of the language.
    pub language: Option<String>,
    /// A tool that the run called.
    pub tool: Option<ToolRef>,
    /// Earliest time of the request, in milliseconds since 1970.
    pub from_ms: Option<i64>,
    /// The request came before this time, in milliseconds since 1970.
    pub until_ms: Option<i64>,
    /// Where the page before ended.
    pub before: Option<RunCursor>,
    /// Most runs, 1 to 1000.
    pub limit: u32,
}

/// Where a page of runs ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunCursor {
    /// Time of the request, in milliseconds since 1970.
    pub at_ms: i64,
    /// The run's handle, which orders runs of one millisecond.
    pub id: String,
}

/// One run of a virtual server.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRow {
    /// The run.
    pub run: RunView,
    /// The first 200 calls, in the order of their start.
    pub calls: Vec<RunCall>,
    /// Sums over all calls.
    pub totals: CallTotals,
    /// The first 200 events, in the order in which they happened.
    pub events: Vec<EventView>,
}

// === impl RunCursor ===

impl RunCursor {
    /// The place after this run.
    pub fn after(run: &RunRow) -> RunCursor {
        RunCursor {
            at_ms: run.run.asked_ms,
            id: run.run.id.clone(),
        }
    }
}

pub(super) async fn select(
    connection: &mut Connection,
    place: Place<'_>,
    filter: &RunFilter,
) -> Result<Vec<RunRow>, sqlx::Error> {
    let dead = lease::dead(connection).await?;
    let rows = connection.fetch_all(query(place, filter, &dead)).await?;
    let dead: HashSet<i64> = dead.into_iter().collect();
    let runs: Vec<RunView> = rows.iter().map(|row| run(row, &dead)).collect::<Result<_, _>>()?;
    let mut found = Vec::with_capacity(runs.len());
    for some in runs.chunks(RUNS_AT_ONCE) {
        let ids: Vec<&str> = some.iter().map(|run| run.id.as_str()).collect();
        let mut made = calls::of_runs(connection, &ids).await?;
        let mut totals = calls::totals(connection, &ids).await?;
        let mut noted = events(connection, &ids).await?;
        found.extend(some.iter().map(|run| RunRow {
            calls: made.remove(&run.id).unwrap_or_default(),
            totals: totals.remove(&run.id).unwrap_or_default(),
            events: noted.remove(&run.id).unwrap_or_default(),
            run: run.clone(),
        }));
    }
    Ok(found)
}

fn query(place: Place<'_>, filter: &RunFilter, dead: &[i64]) -> Statement {
    let mut query = Statement::new("SELECT * FROM runs WHERE virtual_server = ");
    query.push_bind(place.server.as_str());
    filter.users.select(&mut query, place.tenant);
    if !filter.statuses.is_empty() {
        let mut separator = " AND (";
        for status in &filter.statuses {
            query.push(separator);
            with_status(&mut query, status, dead);
            separator = " OR ";
        }
        query.push(")");
    }
    if let Some(language) = &filter.language {
        query.push(" AND language = ").push_bind(language.as_str());
    }
    if let Some(tool) = &filter.tool {
        query.push(" AND EXISTS (SELECT 1 FROM calls WHERE calls.run = runs.id AND calls.server = ");
        query.push_bind(tool.server.as_str()).push(" AND calls.tool = ");
        query.push_bind(tool.tool.as_str()).push(")");
    }
    if let Some(from) = filter.from_ms {
        query.push(" AND asked_ms >= ").push_bind(from);
    }
    if let Some(until) = filter.until_ms {
        query.push(" AND asked_ms < ").push_bind(until);
    }
    if let Some(before) = &filter.before {
        query.push(" AND (asked_ms, id) < ");
        query.push_list([before.at_ms.into(), Value::from(before.id.as_str())]);
    }
    query.push(" ORDER BY asked_ms DESC, id DESC LIMIT ");
    query.push_bind(limit(filter.limit));
    query
}

/// The first events of each run.
async fn events(
    connection: &mut Connection,
    runs: &[&str],
) -> Result<HashMap<String, Vec<EventView>>, sqlx::Error> {
    let mut query = Statement::new(
        "SELECT * FROM (SELECT run, seq, at_ms, kind, detail, ROW_NUMBER() OVER (PARTITION BY run ORDER BY seq) AS place \
         FROM events WHERE run IN ",
    );
    query.push_list(runs.iter().copied());
    query.push(") AS numbered WHERE place <= ");
    query.push_bind(i64::from(MAX_EVENTS)).push(" ORDER BY seq");
    let mut found: HashMap<String, Vec<EventView>> = HashMap::new();
    for row in connection.fetch_all(query).await? {
        found.entry(row.get("run")?).or_default().push(event(&row)?);
    }
    Ok(found)
}
