//! Writes a batch of rows as one transaction.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use accounting::RecordedReceipt;
use serde_json::json;
use types::{Limits, RunId, ServerId};

use crate::connection::{Connection, Statement, Value};
use crate::execution::Execution;
use crate::lease;
use crate::rows::{Call, Closing, Ended, Event, Row, Run, Session, cut, number};
use crate::{receipts, recordings};

/// Rows per statement; the number of values in a statement is limited.
const CHUNK: usize = 64;

const RUN_COLUMNS: &str = "id, process, principal, front, session, life, language, code_hash, code_bytes, limits, \
    backend, mode, asked_ms, ended_ms, waited_us, duration_us, status, limit_name, error_kind, session_fate, \
    result_bytes, stdout_bytes, stderr_bytes, host_calls, cpu_us, peak_memory, earlier_threads, client, searches, search_bytes, \
    virtual_server, writer, number, execution";

/// The end of a run completes its first row. A repeated first row changes the limits of a live run.
const RUN_CONFLICT: &str = " DO UPDATE SET life = excluded.life, mode = excluded.mode, \
    limits = excluded.limits, ended_ms = excluded.ended_ms, waited_us = excluded.waited_us, duration_us = excluded.duration_us, \
    status = excluded.status, limit_name = excluded.limit_name, error_kind = excluded.error_kind, \
    session_fate = excluded.session_fate, result_bytes = excluded.result_bytes, \
    stdout_bytes = excluded.stdout_bytes, stderr_bytes = excluded.stderr_bytes, \
    host_calls = excluded.host_calls, cpu_us = excluded.cpu_us, peak_memory = excluded.peak_memory, \
    earlier_threads = excluded.earlier_threads, writer = excluded.writer, number = excluded.number, \
    execution = excluded.execution \
    WHERE excluded.status IS NOT NULL OR runs.status IS NULL";

/// Rows by table, in order of arrival. Calls, events and ends of runs are numbered together, from 1.
#[derive(Debug, Default)]
struct Sorted<'r> {
    opened: Vec<&'r Session>,
    closed: Vec<(&'r Session, Closing)>,
    runs: Vec<(&'r Run, Option<(&'r Ended, i64)>)>,
    calls: Vec<(&'r Call, i64)>,
    events: Vec<(&'r Event, i64)>,
    receipts: Vec<(&'r RunId, &'r RecordedReceipt)>,
    recordings: Vec<(&'r RunId, &'r str)>,
    records: i64,
}

/// Numbers the records of a batch, if a sink sends them.
#[derive(Debug, Clone, Copy)]
struct Numbering {
    process: i64,
    /// The number before the batch's first record.
    before: Option<i64>,
}

/// Writes all rows as this batch of the process, or none.
pub(crate) async fn batch(
    connection: &mut Connection,
    process: i64,
    number: i64,
    rows: &[Row],
) -> Result<(), sqlx::Error> {
    let sorted = Sorted::of(rows);
    connection.begin_to_write().await?;
    let before = lease::note_batch(connection, process, number, sorted.records).await?;
    let numbering = Numbering { process, before };
    for chunk in sorted.runs.chunks(CHUNK) {
        runs(connection, numbering, chunk).await?;
    }
    for chunk in sorted.opened.chunks(CHUNK) {
        opened(connection, process, chunk).await?;
    }
    for (session, closing) in &sorted.closed {
        closed(connection, process, session, *closing).await?;
    }
    for chunk in sorted.calls.chunks(CHUNK) {
        calls(connection, numbering, chunk).await?;
    }
    for chunk in sorted.events.chunks(CHUNK) {
        events(connection, numbering, chunk).await?;
    }
    for (run, receipt) in sorted.receipts {
        receipts::write(connection, run, receipt).await?;
    }
    for (run, sealed) in sorted.recordings {
        recordings::write(connection, run, sealed).await?;
    }
    connection.commit().await
}

// === impl Sorted ===

impl<'r> Sorted<'r> {
    fn of(rows: &'r [Row]) -> Self {
        let mut sorted = Sorted::default();
        // A run that begins and ends in one batch is written once, at the position of its beginning.
        let mut places: HashMap<&str, usize> = HashMap::new();
        for row in rows {
            match row {
                Row::Begun(run) => sorted.run(&mut places, run, None),
                Row::Ended(run, ended) => {
                    let place = sorted.next();
                    sorted.run(&mut places, run, Some((ended, place)));
                }
                Row::Call(call) => {
                    let place = sorted.next();
                    sorted.calls.push((call, place));
                }
                Row::Opened(session) => sorted.opened.push(session),
                Row::Closed(session, closing) => sorted.closed.push((session, *closing)),
                Row::Event(event) => {
                    let place = sorted.next();
                    sorted.events.push((event, place));
                }
                Row::Receipt(run, receipt) => sorted.receipts.push((run, receipt)),
                Row::Recording(run, sealed) => sorted.recordings.push((run, sealed)),
            }
        }
        sorted
    }

    fn next(&mut self) -> i64 {
        self.records += 1;
        self.records
    }

    fn run(
        &mut self,
        places: &mut HashMap<&'r str, usize>,
        run: &'r Arc<Run>,
        ended: Option<(&'r Ended, i64)>,
    ) {
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

// === impl Numbering ===

impl Numbering {
    /// Values of the columns `writer` and `number`; null for the row of an unfinished run.
    fn of(self, place: Option<i64>) -> [Value; 2] {
        let number = self.before.zip(place).map(|(before, place)| before + place);
        [number.map(|_| self.process).into(), number.into()]
    }
}

async fn runs(
    connection: &mut Connection,
    numbering: Numbering,
    rows: &[(&Run, Option<(&Ended, i64)>)],
) -> Result<(), sqlx::Error> {
    let mut statement = Statement::new(format!("INSERT INTO runs ({RUN_COLUMNS}) "));
    statement.push_rows(rows, |(run, ended)| {
        let attempt = &run.attempt;
        let absent = Ended::default();
        let place = ended.map(|(_, place)| place);
        let ended = ended.map_or(&absent, |(ended, _)| ended);
        let mut values = vec![
            attempt.run.as_str().into(),
            numbering.process.into(),
            attempt.principal.to_string().into(),
            attempt.front.name().into(),
            run.session.clone().into(),
            ended.life.into(),
            attempt.language.into(),
            attempt.code.as_ref().map(|code| code.hash.as_str()).into(),
            attempt.code.as_ref().map(|code| number(code.bytes)).into(),
            attempt.limits.as_ref().map(limits).into(),
            attempt.backend.into(),
            ended.mode.into(),
            run.asked_ms.into(),
        ];
        values.extend(end(ended));
        values.extend([
            attempt.client.as_deref().map(cut).into(),
            number(attempt.searched.searches).into(),
            number(attempt.searched.bytes).into(),
            attempt.server.as_ref().map(ServerId::as_str).into(),
        ]);
        values.extend(numbering.of(place));
        values.push(execution(run, ended).into());
        values
    });
    // The key of a partitioned table includes the partition column.
    statement.push(match connection.is_postgres() {
        true => " ON CONFLICT (asked_ms, id)",
        false => " ON CONFLICT (id)",
    });
    statement.push(RUN_CONFLICT);
    connection.execute(statement).await.map(drop)
}

/// The facts of a run that is over, as JSON.
fn execution(run: &Run, ended: &Ended) -> Option<String> {
    let code = run.attempt.code.as_ref().and_then(|code| code.text.clone());
    let is_over = !ended.status.is_empty();
    let facts = match &ended.execution {
        Some(facts) => facts.clone(),
        // A refused run has no outcome, but may have a program.
        None if is_over && code.is_some() => Execution::default(),
        None => return None,
    };
    serde_json::to_string(&Execution { code, ..facts }).ok()
}

fn end(ended: &Ended) -> [Value; 14] {
    let is_over = !ended.status.is_empty();
    [
        is_over.then_some(ended.at_ms).into(),
        ended.waited_us.into(),
        ended.duration_us.into(),
        is_over.then_some(ended.status).into(),
        ended.limit.into(),
        ended.error_kind.clone().into(),
        ended.session_fate.into(),
        ended.result_bytes.into(),
        ended.stdout_bytes.into(),
        ended.stderr_bytes.into(),
        ended.host_calls.into(),
        ended.cpu_us.into(),
        ended.peak_memory.into(),
        ended.earlier_threads.into(),
    ]
}

async fn opened(connection: &mut Connection, process: i64, rows: &[&Session]) -> Result<(), sqlx::Error> {
    let mut statement = Statement::new(
        "INSERT INTO sessions (process, life, name, principal, language, backend, mode, opened_by, opened_ms) ",
    );
    statement.push_rows(rows, |session| {
        vec![
            process.into(),
            session.life.into(),
            session.name.as_str().into(),
            session.principal.as_str().into(),
            session.language.into(),
            session.backend.into(),
            session.mode.into(),
            session.opened_by.as_str().into(),
            session.opened_ms.into(),
        ]
    });
    statement.push(" ON CONFLICT (process, life) DO NOTHING");
    connection.execute(statement).await.map(drop)
}

async fn closed(
    connection: &mut Connection,
    process: i64,
    session: &Session,
    closing: Closing,
) -> Result<(), sqlx::Error> {
    let sql = "UPDATE sessions SET ended_ms = $1, ending = $2 WHERE process = $3 AND life = $4";
    let statement = Statement::new(sql)
        .bind(closing.at_ms)
        .bind(closing.ending)
        .bind(process)
        .bind(session.life);
    connection.execute(statement).await.map(drop)
}

/// Inserts calls. Skips a call whose run is missing: the run's first row was lost or is too old.
async fn calls(
    connection: &mut Connection,
    numbering: Numbering,
    rows: &[(&Call, i64)],
) -> Result<(), sqlx::Error> {
    let mut statement = Statement::new(
        "WITH made (run, server, tool, shape, arguments_hash, arguments_bytes, arguments, begun_ms, duration_us, \
         outcome, result_bytes, writer, number) AS (",
    );
    statement.push_rows(rows, |(call, place)| {
        let made = &call.made;
        let mut values = vec![
            call.run.as_str().into(),
            cut(&made.server).into(),
            cut(&made.tool).into(),
            made.arguments.shape.as_str().into(),
            made.arguments.hash.as_str().into(),
            number(made.arguments.bytes).into(),
            made.arguments.full.clone().into(),
            call.begun_ms.into(),
            crate::clock::micros(made.duration).into(),
            cut(&made.outcome).into(),
            made.result_bytes.map(number).into(),
        ];
        values.extend(numbering.of(Some(*place)));
        values
    });
    statement.push(
        ") INSERT INTO calls (run, server, tool, shape, arguments_hash, arguments_bytes, arguments, begun_ms, \
         duration_us, outcome, result_bytes, writer, number, virtual_server) \
         SELECT made.*, (SELECT virtual_server FROM runs WHERE runs.id = made.run) FROM made \
         WHERE EXISTS (SELECT 1 FROM runs WHERE runs.id = made.run)",
    );
    connection.execute(statement).await.map(drop)
}

async fn events(
    connection: &mut Connection,
    numbering: Numbering,
    rows: &[(&Event, i64)],
) -> Result<(), sqlx::Error> {
    let mut statement = Statement::new("WITH noted (process, run, at_ms, kind, detail, writer, number) AS (");
    statement.push_rows(rows, |(event, place)| {
        let mut values = vec![
            numbering.process.into(),
            event.run.as_ref().map(RunId::as_str).into(),
            event.at_ms.into(),
            event.kind.into(),
            cut(&event.detail).into(),
        ];
        values.extend(numbering.of(Some(*place)));
        values
    });
    statement.push(
        ") INSERT INTO events (process, run, at_ms, kind, detail, writer, number, virtual_server) \
         SELECT noted.*, (SELECT virtual_server FROM runs WHERE runs.id = noted.run) FROM noted \
         WHERE run IS NULL OR EXISTS (SELECT 1 FROM runs WHERE runs.id = noted.run)",
    );
    connection.execute(statement).await.map(drop)
}

/// Limits by their names in settings; sizes in bytes, times in milliseconds.
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
