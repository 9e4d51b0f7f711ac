//! Writes a batch of rows as one transaction.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use accounting::RecordedReceipt;
use serde_json::json;
use sqlx::query_builder::Separated;
use sqlx::{Connection as _, QueryBuilder, Sqlite, SqliteConnection};
use types::{Limits, RunId};

use crate::clock::now_ms;
use crate::process::Identity;
use crate::receipts;
use crate::rows::{Call, Closing, Ended, Event, Row, Run, Session, cut, number};

/// Rows of one statement: the number of values of one is bounded.
const CHUNK: usize = 64;

const RUN_COLUMNS: &str = "id, process, principal, front, session, life, language, code_hash, code_bytes, limits, \
    backend, mode, asked_ms, ended_ms, waited_us, duration_us, status, limit_name, error_kind, session_fate, \
    result_bytes, stdout_bytes, stderr_bytes, host_calls, cpu_us, peak_memory, earlier_threads, client, searches, search_bytes";

/// A run's end completes its beginning; another beginning changes the limits of a run that is under way.
const RUN_CONFLICT: &str = " ON CONFLICT (id) DO UPDATE SET life = excluded.life, mode = excluded.mode, \
    limits = excluded.limits, ended_ms = excluded.ended_ms, waited_us = excluded.waited_us, duration_us = excluded.duration_us, \
    status = excluded.status, limit_name = excluded.limit_name, error_kind = excluded.error_kind, \
    session_fate = excluded.session_fate, result_bytes = excluded.result_bytes, \
    stdout_bytes = excluded.stdout_bytes, stderr_bytes = excluded.stderr_bytes, \
    host_calls = excluded.host_calls, cpu_us = excluded.cpu_us, peak_memory = excluded.peak_memory, \
    earlier_threads = excluded.earlier_threads \
    WHERE excluded.status IS NOT NULL OR runs.status IS NULL";

type Values<'q> = Separated<'q, Sqlite, &'static str>;

/// Rows by table, in the order in which they came.
#[derive(Debug, Default)]
struct Sorted<'r> {
    opened: Vec<&'r Session>,
    closed: Vec<(&'r Session, Closing)>,
    runs: Vec<(&'r Run, Option<&'r Ended>)>,
    calls: Vec<&'r Call>,
    events: Vec<&'r Event>,
    receipts: Vec<(&'r RunId, &'r RecordedReceipt)>,
}

/// Makes this process known; returns its number in the database, `before` if it is still known by that.
pub(crate) async fn process(
    connection: &mut SqliteConnection,
    before: Option<i64>,
) -> Result<i64, sqlx::Error> {
    let own = Identity::own();
    if let Some(before) = before
        && is_known(connection, before, &own).await?
    {
        return Ok(before);
    }
    sqlx::query_scalar(
        "INSERT INTO processes (pid, pid_namespace, started_ticks, boot, version, begun_ms) \
         VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
    )
    .bind(own.pid)
    .bind(own.pid_namespace)
    .bind(own.started_ticks)
    .bind(own.boot)
    .bind(env!("CARGO_PKG_VERSION"))
    .bind(now_ms())
    .fetch_one(connection)
    .await
}

/// Another process may have the number by now, if the file was replaced.
async fn is_known(
    connection: &mut SqliteConnection,
    number: i64,
    own: &Identity,
) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM processes WHERE id = ? AND pid = ? AND pid_namespace = ? \
         AND started_ticks = ? AND boot = ? AND ended_ms IS NULL)",
    )
    .bind(number)
    .bind(own.pid)
    .bind(&own.pid_namespace)
    .bind(own.started_ticks)
    .bind(&own.boot)
    .fetch_one(connection)
    .await
}

/// Writes all of these rows or none.
pub(crate) async fn batch(
    connection: &mut SqliteConnection,
    process: i64,
    rows: &[Row],
) -> Result<(), sqlx::Error> {
    let sorted = Sorted::of(rows);
    let mut step = connection.begin_with("BEGIN IMMEDIATE").await?;
    for chunk in sorted.runs.chunks(CHUNK) {
        runs(&mut step, process, chunk).await?;
    }
    for chunk in sorted.opened.chunks(CHUNK) {
        opened(&mut step, process, chunk).await?;
    }
    for (session, closing) in &sorted.closed {
        closed(&mut step, process, session, *closing).await?;
    }
    for chunk in sorted.calls.chunks(CHUNK) {
        calls(&mut step, chunk).await?;
    }
    for chunk in sorted.events.chunks(CHUNK) {
        events(&mut step, process, chunk).await?;
    }
    for (run, receipt) in sorted.receipts {
        receipts::write(&mut step, run, receipt).await?;
    }
    step.commit().await
}

/// This process has ended in order.
pub(crate) async fn farewell(connection: &mut SqliteConnection, process: i64) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE processes SET ended_ms = ?, ending = 'closed' WHERE id = ?")
        .bind(now_ms())
        .bind(process)
        .execute(connection)
        .await?;
    Ok(())
}

// === impl Sorted ===

impl<'r> Sorted<'r> {
    fn of(rows: &'r [Row]) -> Self {
        let mut sorted = Sorted::default();
        // A run that begins and ends in one batch is written once, at the place of its beginning.
        let mut places: HashMap<&str, usize> = HashMap::new();
        for row in rows {
            match row {
                Row::Begun(run) => sorted.run(&mut places, run, None),
                Row::Ended(run, ended) => sorted.run(&mut places, run, Some(ended)),
                Row::Call(call) => sorted.calls.push(call),
                Row::Opened(session) => sorted.opened.push(session),
                Row::Closed(session, closing) => sorted.closed.push((session, *closing)),
                Row::Event(event) => sorted.events.push(event),
                Row::Receipt(run, receipt) => sorted.receipts.push((run, receipt)),
            }
        }
        sorted
    }

    fn run(&mut self, places: &mut HashMap<&'r str, usize>, run: &'r Arc<Run>, ended: Option<&'r Ended>) {
        match places.entry(run.attempt.run.as_str()) {
            Entry::Vacant(place) => {
                place.insert(self.runs.len());
                self.runs.push((run, ended));
            }
            Entry::Occupied(place) => {
                let (known, end) = &mut self.runs[*place.get()];
                *known = run;
                *end = ended.or(*end);
            }
        }
    }
}

async fn runs(
    connection: &mut SqliteConnection,
    process: i64,
    rows: &[(&Run, Option<&Ended>)],
) -> Result<(), sqlx::Error> {
    let mut query = QueryBuilder::new(format!("INSERT INTO runs ({RUN_COLUMNS}) "));
    query.push_values(rows, |mut values, (run, ended)| {
        let attempt = &run.attempt;
        let absent = Ended::default();
        let ended = ended.unwrap_or(&absent);
        values.push_bind(attempt.run.to_string());
        values.push_bind(process);
        values.push_bind(attempt.principal.to_string());
        values.push_bind(attempt.front.name());
        values.push_bind(run.session.clone());
        values.push_bind(ended.life);
        values.push_bind(attempt.language);
        values.push_bind(attempt.code.as_ref().map(|code| code.hash.clone()));
        values.push_bind(attempt.code.as_ref().map(|code| number(code.bytes)));
        values.push_bind(attempt.limits.as_ref().map(limits));
        values.push_bind(attempt.backend);
        values.push_bind(ended.mode);
        values.push_bind(run.asked_ms);
        end(&mut values, ended);
        values.push_bind(attempt.client.as_deref().map(cut));
        values.push_bind(number(attempt.searched.searches));
        values.push_bind(number(attempt.searched.bytes));
    });
    query.push(RUN_CONFLICT);
    query.build().persistent(false).execute(connection).await?;
    Ok(())
}

fn end(values: &mut Values<'_>, ended: &Ended) {
    let is_over = !ended.status.is_empty();
    values.push_bind(is_over.then_some(ended.at_ms));
    values.push_bind(ended.waited_us);
    values.push_bind(ended.duration_us);
    values.push_bind(is_over.then_some(ended.status));
    values.push_bind(ended.limit);
    values.push_bind(ended.error_kind.clone());
    values.push_bind(ended.session_fate);
    values.push_bind(ended.result_bytes);
    values.push_bind(ended.stdout_bytes);
    values.push_bind(ended.stderr_bytes);
    values.push_bind(ended.host_calls);
    values.push_bind(ended.cpu_us);
    values.push_bind(ended.peak_memory);
    values.push_bind(ended.earlier_threads);
}

async fn opened(
    connection: &mut SqliteConnection,
    process: i64,
    rows: &[&Session],
) -> Result<(), sqlx::Error> {
    let mut query = QueryBuilder::<Sqlite>::new(
        "INSERT INTO sessions (process, life, name, principal, language, backend, mode, opened_by, opened_ms) ",
    );
    query.push_values(rows, |mut values, session| {
        values.push_bind(process);
        values.push_bind(session.life);
        values.push_bind(session.name.clone());
        values.push_bind(session.principal.clone());
        values.push_bind(session.language);
        values.push_bind(session.backend);
        values.push_bind(session.mode);
        values.push_bind(session.opened_by.to_string());
        values.push_bind(session.opened_ms);
    });
    query.push(" ON CONFLICT (process, life) DO NOTHING");
    query.build().persistent(false).execute(connection).await?;
    Ok(())
}

async fn closed(
    connection: &mut SqliteConnection,
    process: i64,
    session: &Session,
    closing: Closing,
) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE sessions SET ended_ms = ?, ending = ? WHERE process = ? AND life = ?")
        .bind(closing.at_ms)
        .bind(closing.ending)
        .bind(process)
        .bind(session.life)
        .execute(connection)
        .await?;
    Ok(())
}

/// A call whose run is not in the database (its beginning was lost, or it is too old) is left out.
async fn calls(connection: &mut SqliteConnection, rows: &[&Call]) -> Result<(), sqlx::Error> {
    let mut query = QueryBuilder::<Sqlite>::new(
        "WITH made (run, server, tool, shape, arguments_hash, arguments_bytes, arguments, begun_ms, duration_us, \
         outcome, result_bytes) AS (",
    );
    query.push_values(rows, |mut values, call| {
        let made = &call.made;
        values.push_bind(call.run.to_string());
        values.push_bind(cut(&made.server));
        values.push_bind(cut(&made.tool));
        values.push_bind(made.arguments.shape.clone());
        values.push_bind(made.arguments.hash.clone());
        values.push_bind(number(made.arguments.bytes));
        values.push_bind(made.arguments.full.clone());
        values.push_bind(call.begun_ms);
        values.push_bind(crate::clock::micros(made.duration));
        values.push_bind(cut(&made.outcome));
        values.push_bind(made.result_bytes.map(number));
    });
    query.push(
        ") INSERT INTO calls (run, server, tool, shape, arguments_hash, arguments_bytes, arguments, begun_ms, \
         duration_us, outcome, result_bytes) SELECT * FROM made \
         WHERE EXISTS (SELECT 1 FROM runs WHERE runs.id = made.run)",
    );
    query.build().persistent(false).execute(connection).await?;
    Ok(())
}

async fn events(connection: &mut SqliteConnection, process: i64, rows: &[&Event]) -> Result<(), sqlx::Error> {
    let mut query = QueryBuilder::<Sqlite>::new("WITH noted (process, run, at_ms, kind, detail) AS (");
    query.push_values(rows, |mut values, event| {
        values.push_bind(process);
        values.push_bind(event.run.as_ref().map(ToString::to_string));
        values.push_bind(event.at_ms);
        values.push_bind(event.kind);
        values.push_bind(cut(&event.detail));
    });
    query.push(
        ") INSERT INTO events (process, run, at_ms, kind, detail) SELECT * FROM noted \
         WHERE run IS NULL OR EXISTS (SELECT 1 FROM runs WHERE runs.id = noted.run)",
    );
    query.build().persistent(false).execute(connection).await?;
    Ok(())
}

/// The limits by their names in settings; sizes in bytes, times in milliseconds.
fn limits(limits: &Limits) -> String {
    let ms = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    json!({
        "wall_time_ms": ms(limits.wall_time),
        "cpu_time_ms": ms(limits.cpu_time),
        "cpu_rate": limits.cpu_rate,
        "memory": limits.memory,
        "processes": limits.processes,
        "open_files": limits.open_files,
        "file_size": limits.file_size,
        "disk": limits.disk,
        "inodes": limits.inodes,
        "disk_rate": limits.disk_rate,
        "output": limits.output,
        "host_calls": limits.host_calls,
        "concurrent_host_calls": limits.concurrent_host_calls,
        "network": limits.network,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::{self, Purpose};

    #[tokio::test]
    async fn a_process_keeps_its_number_while_its_row_is_open() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("records.db");
        let mut connection = database::open(&file, Purpose::Write).await.expect("a database");
        let first = process(&mut connection, None).await.expect("a number");
        connection.close().await.expect("closed");
        let mut connection = database::open(&file, Purpose::Write).await.expect("a database");
        assert_eq!(
            process(&mut connection, Some(first)).await.expect("a number"),
            first
        );
        farewell(&mut connection, first).await.expect("written");
        assert_ne!(
            process(&mut connection, Some(first)).await.expect("a number"),
            first
        );
    }
}
