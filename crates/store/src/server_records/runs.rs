//! Runs of a virtual server, with their calls and events.

use std::collections::{HashMap, HashSet};

use types::ToolRef;

use super::calls::{CallTotals, RunCall};
use super::{Place, RunUsers, calls};
use crate::connection::{Connection, Statement, Value};
use crate::lease;
use crate::page::limit;
use crate::reader::{EventView, RunView, event, run, with_status};

/// Maximum events of a run in a list.
const MAX_EVENTS: u32 = 200;

/// Below this number of runs that called a tool, the query starts from the calls; otherwise from the runs.
const FEW_RUNS: i64 = 20_000;

/// Runs per query for events; the number of values in a statement is limited.
const RUNS_AT_ONCE: usize = 500;

/// Selects runs of a virtual server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// The users whose runs are selected.
    pub users: RunUsers,
    /// A run has one of these statuses as in [`RunView::status`]; an empty list selects all runs.
    pub statuses: Vec<String>,
    /// Name of the language.
    pub language: Option<String>,
    /// A tool that the run called.
    pub tool: Option<ToolRef>,
    /// Earliest time of the request, in milliseconds since 1970.
    pub from_ms: Option<i64>,
    /// Latest time of the request, exclusive, in milliseconds since 1970.
    pub until_ms: Option<i64>,
    /// The end of the previous page.
    pub before: Option<RunCursor>,
    /// Maximum number of runs, 1 to 1000.
    pub limit: u32,
}

/// The end of a page of runs.
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
    /// Totals over all calls.
    pub totals: CallTotals,
    /// The first 200 events, in the order in which they happened.
    pub events: Vec<EventView>,
}

// === impl RunCursor ===

impl RunCursor {
    /// The cursor after this run.
    pub fn after(run: &RunRow) -> RunCursor {
        RunCursor {
            at_ms: run.run.asked_ms,
            id: run.run.id.clone(),
        }
    }
}

// === impl RunFilter ===

impl RunFilter {
    /// Adds the conditions on a run's own row.
    fn select(&self, query: &mut Statement, dead: &[i64]) {
        if !self.statuses.is_empty() {
            let mut separator = " AND (";
            for status in &self.statuses {
                query.push(separator);
                with_status(query, status, dead);
                separator = " OR ";
            }
            query.push(")");
        }
        if let Some(language) = &self.language {
            query.push(" AND language = ").push_bind(language.as_str());
        }
        if let Some(from) = self.from_ms {
            query.push(" AND asked_ms >= ").push_bind(from);
        }
        if let Some(until) = self.until_ms {
            query.push(" AND asked_ms < ").push_bind(until);
        }
        if let Some(before) = &self.before {
            query.push(" AND (asked_ms, id) < ");
            query.push_list([before.at_ms.into(), Value::from(before.id.as_str())]);
        }
    }
}

pub(super) async fn select(
    connection: &mut Connection,
    place: Place<'_>,
    filter: &RunFilter,
) -> Result<Vec<RunRow>, sqlx::Error> {
    let dead = lease::dead(connection).await?;
    let mut query = match &filter.tool {
        None => Statement::new("SELECT * FROM runs WHERE "),
        Some(tool) => runs_with(connection, place, tool, FEW_RUNS).await?,
    };
    query
        .push("runs.virtual_server = ")
        .push_bind(place.server.as_str());
    filter.users.select(&mut query, place.tenant);
    filter.select(&mut query, &dead);
    query.push(" ORDER BY asked_ms DESC, id DESC LIMIT ");
    query.push_bind(limit(filter.limit));
    let rows = connection.fetch_all(query).await?;
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

/// The beginning of a query for runs that called the tool.
async fn runs_with(
    connection: &mut Connection,
    place: Place<'_>,
    tool: &ToolRef,
    few: i64,
) -> Result<Statement, sqlx::Error> {
    let mut count = Statement::new("SELECT COUNT(*) AS value FROM (SELECT DISTINCT run");
    calls_of_tool(&mut count, place, tool);
    count.push(" LIMIT ").push_bind(few).push(") AS some_runs");
    if connection.fetch_value::<i64>(count).await? < few {
        let mut query = Statement::new("SELECT runs.* FROM (SELECT DISTINCT run");
        calls_of_tool(&mut query, place, tool);
        // SQLite keeps the order of a CROSS JOIN.
        query.push(") AS callers CROSS JOIN runs WHERE runs.id = callers.run AND ");
        return Ok(query);
    }
    let mut query = Statement::new("SELECT * FROM runs WHERE EXISTS (SELECT 1");
    calls_of_tool(&mut query, place, tool);
    query.push(" AND calls.run = runs.id) AND ");
    Ok(query)
}

fn calls_of_tool(query: &mut Statement, place: Place<'_>, tool: &ToolRef) {
    query.push(" FROM calls WHERE calls.virtual_server = ");
    query.push_bind(place.server.as_str());
    query.push(" AND calls.server = ").push_bind(tool.server.as_str());
    query.push(" AND calls.tool = ").push_bind(tool.tool.as_str());
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

#[cfg(test)]
mod tests {
    use types::{ServerId, TenantId};

    use super::*;
    use crate::connection::Purpose;

    #[tokio::test]
    async fn rare_and_common_tools_select_the_same_runs() {
        let directory = tempfile::tempdir().expect("a directory");
        let database = directory.path().join("records.db").into();
        let mut connection = Connection::open(&database, Purpose::Write)
            .await
            .expect("a database");
        for sql in [
            "INSERT INTO processes (pid, version, begun_ms) VALUES (1, '1', 1)",
            "INSERT INTO runs (id, process, principal, front, backend, asked_ms, virtual_server) \
             VALUES ('a', 1, 'p', 'mcp', 'process', 1, 's'), ('b', 1, 'p', 'mcp', 'process', 2, 's')",
            "INSERT INTO calls (run, server, tool, shape, arguments_hash, arguments_bytes, begun_ms, duration_us, \
             outcome, virtual_server) VALUES ('a', 'crm', 'find', '', '', 0, 1, 1, 'answered', 's'), \
             ('a', 'crm', 'find', '', '', 0, 1, 1, 'answered', 's'), ('b', 'crm', 'x', '', '', 0, 1, 1, 'answered', 's')",
        ] {
            connection.execute(Statement::new(sql)).await.expect("written");
        }
        let (tenant, server) = (TenantId::new("local"), ServerId::new("s"));
        let place = Place {
            tenant: &tenant,
            server: &server,
        };
        let tool = ToolRef::new("crm", "find");
        for few in [1, 2] {
            let mut query = runs_with(&mut connection, place, &tool, few)
                .await
                .expect("a query");
            query.push("runs.virtual_server = ").push_bind("s");
            let rows = connection.fetch_all(query).await.expect("runs");
            let ids: Vec<String> = rows.iter().map(|row| row.get("id").expect("an id")).collect();
            assert_eq!(ids, ["a"], "{few}");
        }
    }
}
