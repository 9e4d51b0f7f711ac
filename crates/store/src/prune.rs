//! Keeps the database within its bounds by removing the oldest records.

use std::time::Duration;

use crate::clock::now_ms;
use crate::connection::{Connection, Statement};
use crate::rows::number;
use crate::{learned, partitions, saved};

/// Runs removed in one transaction; limits how long other processes wait.
const STEP: i64 = 200;
/// Recordings removed in one transaction; each may have some megabytes.
const RECORDINGS_STEP: i64 = 20;
/// A sink that no process has used for a year is abandoned.
const UNUSED_SINK_MS: i64 = 365 * 24 * 60 * 60 * 1000;
/// Returns up to 2000 pages to the file system.
const PAGES: &str = "PRAGMA incremental_vacuum(2000)";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    Nothing,
    More,
}

/// Removes the oldest records if they are older than `keep_for` or take more than `keep_size` bytes.
pub(crate) async fn step(
    connection: &mut Connection,
    keep_for: Duration,
    keep_size: u64,
) -> Result<Left, sqlx::Error> {
    let too_old = now_ms().saturating_sub(i64::try_from(keep_for.as_millis()).unwrap_or(i64::MAX));
    match connection.is_postgres() {
        true => days(connection, too_old, keep_size).await,
        false => runs(connection, too_old, keep_size).await,
    }
}

async fn days(connection: &mut Connection, too_old: i64, keep_size: u64) -> Result<Left, sqlx::Error> {
    let left = partitions::remove(connection, too_old, number(keep_size)).await?;
    connection.begin_to_write().await?;
    rest(connection, too_old, too_old).await?;
    connection.commit().await?;
    Ok(left)
}

/// Removes the oldest runs with their rows in other tables.
async fn runs(connection: &mut Connection, too_old: i64, keep_size: u64) -> Result<Left, sqlx::Error> {
    // Saved values and observations are not records, so their size must not cause the removal of records.
    let others = saved::held(connection).await? + learned::held(connection).await?;
    let too_large = used(connection).await? - others > number(keep_size);
    let before = if too_large { i64::MAX } else { too_old };
    connection.begin_to_write().await?;
    if too_large && oldest_recordings(connection).await? > 0 {
        connection.commit().await?;
        connection.execute(Statement::new(PAGES)).await?;
        return Ok(Left::More);
    }
    let sql = "DELETE FROM runs WHERE seq IN \
         (SELECT seq FROM (SELECT seq, asked_ms FROM runs ORDER BY seq LIMIT $1) AS oldest WHERE asked_ms < $2)";
    let removed = connection
        .execute(Statement::new(sql).bind(STEP).bind(before))
        .await?;
    // Rows without a run are removed together with the runs of the same time.
    let horizon = match oldest(connection).await? {
        Some(oldest) if too_large => oldest,
        _ => too_old,
    };
    let sql = "DELETE FROM events WHERE seq IN \
         (SELECT seq FROM events WHERE run IS NULL AND at_ms < $1 ORDER BY seq LIMIT 1000)";
    connection.execute(Statement::new(sql).bind(horizon)).await?;
    rest(connection, horizon, too_old).await?;
    connection.commit().await?;
    connection.execute(Statement::new(PAGES)).await?;
    // If nothing was removed, the database cannot shrink further.
    Ok(match removed {
        0 => Left::Nothing,
        _ => Left::More,
    })
}

/// Removes the oldest recordings. They are large, so they make room before any record does. Returns their number.
async fn oldest_recordings(connection: &mut Connection) -> Result<u64, sqlx::Error> {
    let sql = "DELETE FROM recordings WHERE run IN (SELECT run FROM recordings ORDER BY asked_ms LIMIT $1)";
    connection
        .execute(Statement::new(sql).bind(RECORDINGS_STEP))
        .await
}

/// Removes rows that outlive runs: sessions, processes, and observations of tools that are no longer called or have a
/// new definition.
async fn rest(connection: &mut Connection, horizon: i64, too_old: i64) -> Result<(), sqlx::Error> {
    for sql in [
        // Remove a dead process's sessions together with the process; a live process keeps adding sessions.
        "DELETE FROM sessions WHERE (process, life) IN \
         (SELECT process, life FROM sessions WHERE ended_ms < $1 LIMIT 1000)",
        "DELETE FROM sessions WHERE process IN (SELECT id FROM processes WHERE ended_ms < $1) \
         AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.process = sessions.process)",
        // A sink counts the records that were removed before it could send them.
        "DELETE FROM processes WHERE ended_ms < $1 AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.process = processes.id) \
         AND NOT EXISTS (SELECT 1 FROM sinks WHERE processes.records > coalesce((SELECT number FROM sink_positions \
         WHERE sink = sinks.name AND process = processes.id), 0))",
    ] {
        connection.execute(Statement::new(sql).bind(horizon)).await?;
    }
    let given_up = now_ms().saturating_sub(UNUSED_SINK_MS).min(too_old);
    let unused = Statement::new("DELETE FROM sinks WHERE until_ms < $1").bind(given_up);
    connection.execute(unused).await?;
    let sql = "DELETE FROM sink_positions WHERE NOT EXISTS (SELECT 1 FROM processes WHERE id = process)";
    connection.execute(Statement::new(sql)).await?;
    let forgotten = Statement::new("DELETE FROM learned WHERE last_ms < $1").bind(too_old);
    connection.execute(forgotten).await.map(drop)
}

/// Bytes of the pages in use.
async fn used(connection: &mut Connection) -> Result<i64, sqlx::Error> {
    let sql = "SELECT (page_count - freelist_count) * page_size AS value \
         FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
    connection.fetch_value(Statement::new(sql)).await
}

async fn oldest(connection: &mut Connection) -> Result<Option<i64>, sqlx::Error> {
    let sql = "SELECT asked_ms AS value FROM runs ORDER BY seq LIMIT 1";
    let row = connection.fetch_optional(Statement::new(sql)).await?;
    row.map(|row| row.get("value")).transpose()
}

pub(crate) async fn newest(connection: &mut Connection) -> Result<Option<i64>, sqlx::Error> {
    let sql = "SELECT asked_ms AS value FROM runs ORDER BY seq DESC LIMIT 1";
    let row = connection.fetch_optional(Statement::new(sql)).await?;
    row.map(|row| row.get("value")).transpose()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use types::RunId;

    use super::*;
    use crate::connection::Purpose;
    use crate::rows::{Closing, Row, Session};
    use crate::{Database, insert, lease};

    fn session(life: i64) -> Arc<Session> {
        Arc::new(Session {
            life,
            name: "default".to_owned(),
            principal: "local".to_owned(),
            language: "python",
            backend: "process",
            mode: None,
            opened_by: RunId::new(format!("r-{life}")),
            opened_ms: 1,
        })
    }

    #[tokio::test]
    async fn sessions_of_a_living_process_go_once_they_are_over_and_old() {
        let directory = tempfile::tempdir().expect("a directory");
        let database = directory.path().join("records.db").into();
        let mut connection = Connection::open(&database, Purpose::Write)
            .await
            .expect("a database");
        let own = lease::register(&mut connection, None).await.expect("a number");
        let closed = |life, at_ms| {
            let ending = "closed";
            Row::Closed(session(life), Closing { at_ms, ending })
        };
        let mut rows: Vec<_> = (1..=3).map(|life| Row::Opened(session(life))).collect();
        rows.extend([closed(1, 2), closed(2, now_ms())]);
        insert::batch(&mut connection, own.process, 1, &rows)
            .await
            .expect("written");
        step(&mut connection, Duration::from_secs(3600), u64::MAX)
            .await
            .expect("pruned");
        let lives = Statement::new("SELECT life FROM sessions ORDER BY life");
        let rows = connection.fetch_all(lives).await.expect("sessions");
        let left: Vec<i64> = rows
            .iter()
            .map(|row| row.get("life").expect("a number"))
            .collect();
        assert_eq!(left, [2, 3]);
    }

    async fn runs_left(database: &Database, keep_size: u64) -> i64 {
        let mut connection = Connection::open(database, Purpose::Write)
            .await
            .expect("a database");
        step(&mut connection, Duration::from_secs(3600), keep_size)
            .await
            .expect("pruned");
        let count = Statement::new("SELECT count(*) AS value FROM runs");
        connection.fetch_value(count).await.expect("a number")
    }

    #[tokio::test]
    async fn what_is_saved_counts_for_nothing_and_stays() {
        let directory = tempfile::tempdir().expect("a directory");
        let config = crate::RecordsConfig::below(directory.path());
        let records = crate::Records::new(config.clone());
        let attempt = crate::Attempt {
            run: RunId::new("r-1".to_owned()),
            principal: types::Principal::local(),
            server: None,
            front: crate::Front::Mcp,
            language: None,
            code: None,
            limits: None,
            backend: "process",
            client: None,
            searched: crate::Searched::default(),
        };
        records
            .refused(attempt, crate::Refused::Closing)
            .await
            .expect("recorded");
        records.close().await;
        let saved = crate::Saved::new(config.database.clone());
        let principal = types::Principal::local();
        let by = saved::SavedBy {
            principal: &principal,
            run: None,
        };
        for key in ["a", "b", "c"] {
            let memory = saved::NewMemory {
                key,
                value: &serde_json::Value::from("x".repeat(900_000)),
                metadata: &serde_json::Value::Null,
                expected: None,
                times: Some((1, 1)),
            };
            saved.save_memory(by, memory).await.expect("saved");
        }
        assert_eq!(runs_left(&config.database, 500_000).await, 1);
        assert_eq!(runs_left(&config.database, 1000).await, 0);
        assert_eq!(saved.memories(&principal).await.expect("listed").len(), 3);
    }
}
