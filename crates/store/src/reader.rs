//! Reads one principal's records on its own read-only connection.

use std::collections::{HashMap, HashSet};

use accounting::{RecordedReceipt, RunCost};
use serde::Serialize;
use types::Principal;

use crate::config::RecordsConfig;
use crate::connection::{Connection, SqlRow, Statement};
use crate::lease;
use crate::receipts;
use crate::rows::{DRIFT, TASK};
use crate::traffic::{self, Traffic};
use crate::trouble::Trouble;

/// Runs per query for summaries; the number of values in a statement is limited.
const DEEDS_AT_ONCE: usize = 500;

/// Reads one principal's records. The handle of another principal's run looks unknown.
#[derive(Debug)]
pub struct Reader {
    config: RecordsConfig,
    /// The principal's name in the table of runs.
    principal: String,
    connection: Connection,
    version: i64,
}

/// Selects runs.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Maximum number of runs.
    pub limit: Option<u32>,
    /// Status of the runs, including `running` and `interrupted`.
    pub status: Option<String>,
    /// Name of the runs' session.
    pub session: Option<String>,
    /// Earliest time of the request, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// Only runs recorded after this `seq`.
    pub after: Option<i64>,
    /// The run with this handle.
    pub id: Option<String>,
}

/// One run. Times are milliseconds since 1970, durations microseconds, sizes bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunView {
    /// Position among all records.
    pub seq: i64,
    /// The run's handle.
    pub id: String,
    /// `completed`, `failed`, …; `running` while active, `interrupted` if codeyard ended first.
    pub status: String,
    /// The principal that requested the run.
    pub principal: String,
    /// Id of the gateway's virtual server; absent for runs of other origins.
    pub virtual_server: Option<String>,
    /// `mcp`, `run`, `call` or `task`.
    pub front: String,
    /// The client's own name.
    pub client: Option<String>,
    /// Name of the session.
    pub session: Option<String>,
    /// Name of the language.
    pub language: Option<String>,
    /// SHA-256 of the program.
    pub code_hash: Option<String>,
    /// Length of the program in bytes.
    pub code_bytes: Option<i64>,
    /// The limits as a JSON object.
    pub limits: Option<String>,
    /// Kind of the sandbox.
    pub backend: String,
    /// Mode of the sandbox on this machine.
    pub mode: Option<String>,
    /// Time of the request.
    pub asked_ms: i64,
    /// Time of the end.
    pub ended_ms: Option<i64>,
    /// Time from the request to the program's start.
    pub waited_us: Option<i64>,
    /// Time from the program's start to its end.
    pub duration_us: Option<i64>,
    /// The limit that ended the run.
    pub limit: Option<String>,
    /// Class of the error.
    pub error_kind: Option<String>,
    /// `kept` or `lost`.
    pub session_fate: Option<String>,
    /// Length of the result as JSON.
    pub result_bytes: Option<i64>,
    /// Length of standard output.
    pub stdout_bytes: Option<i64>,
    /// Length of standard error.
    pub stderr_bytes: Option<i64>,
    /// Number of host calls.
    pub host_calls: Option<i64>,
    /// The session's CPU time during the run.
    pub cpu_us: Option<i64>,
    /// The session's peak memory.
    pub peak_memory: Option<i64>,
    /// Threads of earlier runs that were alive and acted with this run's rights; absent if no such thread existed.
    pub earlier_threads: Option<i64>,
}

/// One call of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallView {
    /// Name of the server.
    pub server: String,
    /// Name of the tool.
    pub tool: String,
    /// Types of the arguments by name, as a JSON object.
    pub shape: String,
    /// SHA-256 of the arguments.
    pub arguments_hash: String,
    /// Length of the arguments as JSON, in bytes.
    pub arguments_bytes: i64,
    /// The arguments as JSON, if the settings store values.
    pub arguments: Option<String>,
    /// Start, in milliseconds since 1970.
    pub begun_ms: i64,
    /// Duration in microseconds.
    pub duration_us: i64,
    /// `answered`, `in_sandbox` (a tool file), `tool_error`, `cancelled`, or the kind of the failure.
    pub outcome: String,
    /// Length of the answer in bytes.
    pub result_bytes: Option<i64>,
}

/// Summary of one run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunDeeds {
    /// Called tools in order of first call, each with its number of calls.
    pub tools: Vec<(String, i64)>,
    /// The words of the task.
    pub task: Option<String>,
}

/// An event for the operator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventView {
    /// Milliseconds since 1970.
    pub at_ms: i64,
    /// For example `result_drift`.
    pub kind: String,
    /// Details.
    pub detail: String,
}

/// All records of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunDetail {
    /// The run.
    pub run: RunView,
    /// The run's calls, in the order in which they ended.
    pub calls: Vec<CallView>,
    /// The run's events.
    pub events: Vec<EventView>,
    /// The cost, if a receipt was taken.
    pub receipt: Option<RecordedReceipt>,
}

/// The state of the records.
#[derive(Debug)]
pub enum Opened {
    /// Nothing has been recorded yet.
    Empty,
    /// Records.
    Open(Box<Reader>),
}

// === impl Reader ===

impl Reader {
    /// Opens a principal's records.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn open(config: &RecordsConfig, principal: &Principal) -> Result<Opened, Trouble> {
        Ok(match Connection::open_to_read(&config.database).await? {
            None => Opened::Empty,
            Some(connection) => Opened::Open(Box::new(Reader {
                config: config.clone(),
                principal: principal.to_string(),
                connection,
                version: 0,
            })),
        })
    }

    fn trouble(&self, error: &sqlx::Error) -> Trouble {
        Trouble::of(&self.config.database, error)
    }

    /// The selected runs, newest first.
    pub async fn runs(&mut self, filter: &Filter) -> Result<Vec<RunView>, Trouble> {
        let found = list(&mut self.connection, &self.principal, filter).await;
        found.map_err(|error| self.trouble(&error))
    }

    /// Summaries by handle; a run without tools and task has none.
    pub async fn deeds(&mut self, runs: &[RunView]) -> Result<HashMap<String, RunDeeds>, Trouble> {
        let found = deeds(&mut self.connection, runs).await;
        found.map_err(|error| self.trouble(&error))
    }

    /// The handle of the newest run.
    pub async fn newest(&mut self) -> Result<Option<String>, Trouble> {
        let newest = Filter {
            limit: Some(1),
            ..Filter::default()
        };
        Ok(self.runs(&newest).await?.pop().map(|run| run.id))
    }

    /// One run with all its records; `None` if the handle is unknown.
    pub async fn run(&mut self, id: &str) -> Result<Option<RunDetail>, Trouble> {
        let found = detail(&mut self.connection, &self.principal, id).await;
        found.map_err(|error| self.trouble(&error))
    }

    /// The newest `most` drift events, newest first; `name` selects a server or `server.tool`.
    pub async fn drift(&mut self, name: Option<&str>, most: u32) -> Result<Vec<EventView>, Trouble> {
        let sql = "SELECT * FROM events WHERE kind = $1 AND ($2 IS NULL OR \
             substr(detail, 1, length($2) + 1) IN ($2 || '.', $2 || ' ')) \
             AND run IN (SELECT id FROM runs WHERE principal = $4) ORDER BY seq DESC LIMIT $3";
        let asked = Statement::new(sql)
            .bind(DRIFT)
            .bind(name)
            .bind(i64::from(most))
            .bind(self.principal.as_str());
        let rows = self.connection.fetch_all(asked).await;
        let events = rows.and_then(|rows| rows.iter().map(event).collect());
        events.map_err(|error| self.trouble(&error))
    }

    /// Totals since a time, in milliseconds since 1970.
    pub async fn traffic(&mut self, since_ms: i64) -> Result<Traffic, Trouble> {
        let found = traffic::since(&mut self.connection, &self.principal, since_ms).await;
        found.map_err(|error| self.trouble(&error))
    }

    /// Costs of all finished runs of programs, oldest first; `since_ms` is milliseconds since 1970.
    pub async fn costs(&mut self, since_ms: Option<i64>) -> Result<Vec<RunCost>, Trouble> {
        let found = receipts::costs(&mut self.connection, &self.principal, since_ms).await;
        found.map_err(|error| self.trouble(&error))
    }

    /// Whether the records changed since the last call.
    pub async fn has_changed(&mut self) -> Result<bool, Trouble> {
        let sql = match self.connection.is_postgres() {
            true => "SELECT CAST(coalesce(sum(batch), 0) AS BIGINT) AS value FROM processes",
            false => "SELECT data_version AS value FROM pragma_data_version",
        };
        let version = self.connection.fetch_value(Statement::new(sql)).await;
        let version = version.map_err(|error| self.trouble(&error))?;
        let before = std::mem::replace(&mut self.version, version);
        Ok(before != version)
    }
}

async fn list(
    connection: &mut Connection,
    principal: &str,
    filter: &Filter,
) -> Result<Vec<RunView>, sqlx::Error> {
    let dead = lease::dead(connection).await?;
    let mut query = Statement::new("SELECT * FROM runs WHERE principal = ");
    query.push_bind(principal);
    if let Some(id) = &filter.id {
        query.push(" AND id = ").push_bind(id.as_str());
    }
    if let Some(session) = &filter.session {
        query.push(" AND session = ").push_bind(session.as_str());
    }
    if let Some(since) = filter.since_ms {
        query.push(" AND asked_ms >= ").push_bind(since);
    }
    if let Some(after) = filter.after {
        query.push(" AND seq > ").push_bind(after);
    }
    if let Some(status) = &filter.status {
        query.push(" AND ");
        with_status(&mut query, status, &dead);
    }
    query.push(" ORDER BY seq DESC");
    if let Some(limit) = filter.limit {
        query.push(" LIMIT ").push_bind(i64::from(limit));
    }
    let rows = connection.fetch_all(query).await?;
    let dead: HashSet<i64> = dead.into_iter().collect();
    rows.iter().map(|row| run(row, &dead)).collect()
}

/// Adds the condition on a run's status. An open run is running or interrupted, depending on its process.
pub(crate) fn with_status(query: &mut Statement, status: &str, dead: &[i64]) {
    let dead = dead.iter().copied();
    match status {
        "running" if dead.len() == 0 => {
            query.push("status IS NULL");
        }
        "running" => {
            query
                .push("(status IS NULL AND process NOT IN ")
                .push_list(dead)
                .push(")");
        }
        "interrupted" => {
            query.push("(status = 'interrupted' OR (status IS NULL AND process IN ");
            query.push_list(dead).push("))");
        }
        other => {
            query.push("status = ").push_bind(other);
        }
    }
}

/// The status of the run in this row.
pub(crate) fn status(row: &SqlRow, dead: &HashSet<i64>) -> Result<String, sqlx::Error> {
    let process: i64 = row.get("process")?;
    let status: Option<String> = row.get("status")?;
    Ok(status.unwrap_or_else(|| {
        let open = if dead.contains(&process) {
            "interrupted"
        } else {
            "running"
        };
        open.to_owned()
    }))
}

pub(crate) fn run(row: &SqlRow, dead: &HashSet<i64>) -> Result<RunView, sqlx::Error> {
    Ok(RunView {
        seq: row.get("seq")?,
        id: row.get("id")?,
        status: status(row, dead)?,
        principal: row.get("principal")?,
        virtual_server: row.get_if_there("virtual_server")?,
        front: row.get("front")?,
        client: row.get_if_there("client")?,
        session: row.get("session")?,
        language: row.get("language")?,
        code_hash: row.get("code_hash")?,
        code_bytes: row.get("code_bytes")?,
        limits: row.get("limits")?,
        backend: row.get("backend")?,
        mode: row.get("mode")?,
        asked_ms: row.get("asked_ms")?,
        ended_ms: row.get("ended_ms")?,
        waited_us: row.get("waited_us")?,
        duration_us: row.get("duration_us")?,
        limit: row.get("limit_name")?,
        error_kind: row.get("error_kind")?,
        session_fate: row.get("session_fate")?,
        result_bytes: row.get("result_bytes")?,
        stdout_bytes: row.get("stdout_bytes")?,
        stderr_bytes: row.get("stderr_bytes")?,
        host_calls: row.get("host_calls")?,
        cpu_us: row.get("cpu_us")?,
        peak_memory: row.get("peak_memory")?,
        earlier_threads: row.get_if_there("earlier_threads")?,
    })
}

async fn detail(
    connection: &mut Connection,
    principal: &str,
    id: &str,
) -> Result<Option<RunDetail>, sqlx::Error> {
    let only = Filter {
        id: Some(id.to_owned()),
        ..Filter::default()
    };
    let Some(run) = list(connection, principal, &only).await?.pop() else {
        return Ok(None);
    };
    let asked = Statement::new("SELECT * FROM calls WHERE run = $1 ORDER BY seq").bind(id);
    let calls = connection.fetch_all(asked).await?;
    let asked = Statement::new("SELECT * FROM events WHERE run = $1 ORDER BY seq").bind(id);
    let events = connection.fetch_all(asked).await?;
    Ok(Some(RunDetail {
        receipt: receipts::of(connection, id).await?,
        run,
        calls: calls.iter().map(call).collect::<Result<_, _>>()?,
        events: events.iter().map(event).collect::<Result<_, _>>()?,
    }))
}

async fn deeds(
    connection: &mut Connection,
    runs: &[RunView],
) -> Result<HashMap<String, RunDeeds>, sqlx::Error> {
    let mut found: HashMap<String, RunDeeds> = HashMap::new();
    // The number of values in a statement is limited.
    for some in runs.chunks(DEEDS_AT_ONCE) {
        let ids = || some.iter().map(|run| run.id.as_str());
        let mut calls =
            Statement::new("SELECT run, server, tool, COUNT(*) AS calls FROM calls WHERE run IN ");
        calls
            .push_list(ids())
            .push(" GROUP BY run, server, tool ORDER BY MIN(seq)");
        for row in connection.fetch_all(calls).await? {
            let (server, tool): (String, String) = (row.get("server")?, row.get("tool")?);
            let run = found.entry(row.get("run")?).or_default();
            run.tools.push((format!("{server}.{tool}"), row.get("calls")?));
        }
        let mut tasks = Statement::new("SELECT run, detail FROM events WHERE kind = ");
        tasks.push_bind(TASK).push(" AND run IN ").push_list(ids());
        for row in connection.fetch_all(tasks).await? {
            found.entry(row.get("run")?).or_default().task = row.get("detail")?;
        }
    }
    Ok(found)
}

fn call(row: &SqlRow) -> Result<CallView, sqlx::Error> {
    Ok(CallView {
        server: row.get("server")?,
        tool: row.get("tool")?,
        shape: row.get("shape")?,
        arguments_hash: row.get("arguments_hash")?,
        arguments_bytes: row.get("arguments_bytes")?,
        arguments: row.get("arguments")?,
        begun_ms: row.get("begun_ms")?,
        duration_us: row.get("duration_us")?,
        outcome: row.get("outcome")?,
        result_bytes: row.get("result_bytes")?,
    })
}

pub(crate) fn event(row: &SqlRow) -> Result<EventView, sqlx::Error> {
    Ok(EventView {
        at_ms: row.get("at_ms")?,
        kind: row.get("kind")?,
        detail: row.get("detail")?,
    })
}
