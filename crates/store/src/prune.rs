//! Keeps the database within its bounds: what is old goes, what a dead process left open is closed.

use std::time::Duration;

use sqlx::{Connection as _, Row as _, SqliteConnection};

use crate::clock::now_ms;
use crate::learned;
use crate::process::Identity;
use crate::rows::number;
use crate::saved;

/// Runs that are removed as one step; other processes wait for no longer than that takes.
const STEP: i64 = 200;
/// Pages that are given back to the file system as one step.
const PAGES: &str = "PRAGMA incremental_vacuum(2000)";

/// Whether there is more to remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    Nothing,
    More,
}

/// Removes the oldest runs, if they are older than `keep_for` or records take more than `keep_size` bytes.
pub(crate) async fn step(
    connection: &mut SqliteConnection,
    keep_for: Duration,
    keep_size: u64,
) -> Result<Left, sqlx::Error> {
    // What programs have saved and what was learned is nobody's record: it does not make records go.
    let others = saved::held(connection).await? + learned::held(connection).await?;
    let records = used(connection).await? - others;
    let too_large = records > number(keep_size);
    let too_old = now_ms().saturating_sub(i64::try_from(keep_for.as_millis()).unwrap_or(i64::MAX));
    let before = if too_large { i64::MAX } else { too_old };
    let mut step = connection.begin_with("BEGIN IMMEDIATE").await?;
    let removed = sqlx::query(
        "DELETE FROM runs WHERE seq IN \
         (SELECT seq FROM (SELECT seq, asked_ms FROM runs ORDER BY seq LIMIT ?) AS oldest WHERE asked_ms < ?)",
    )
    .bind(STEP)
    .bind(before)
    .execute(&mut *step)
    .await?
    .rows_affected();
    // What belongs to no run goes with the runs of its time.
    let horizon = match oldest(&mut step).await? {
        Some(oldest) if too_large => oldest,
        _ => too_old,
    };
    for statement in [
        "DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE run IS NULL AND at_ms < ? ORDER BY seq LIMIT 1000)",
        // Those of a process that is no more go with it; one that lives on opens more and more of them.
        "DELETE FROM sessions WHERE rowid IN (SELECT rowid FROM sessions WHERE ended_ms < ? LIMIT 1000)",
        "DELETE FROM processes WHERE ended_ms < ? AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.process = processes.id)",
    ] {
        sqlx::query(statement).bind(horizon).execute(&mut *step).await?;
    }
    // Of a tool that is not called any more, or has another definition by now.
    sqlx::query("DELETE FROM learned WHERE last_ms < ?")
        .bind(too_old)
        .execute(&mut *step)
        .await?;
    step.commit().await?;
    sqlx::query(PAGES).execute(&mut *connection).await?;
    // A database of which nothing is left to remove is as small as it gets.
    Ok(match removed {
        0 => Left::Nothing,
        _ => Left::More,
    })
}

/// Bytes of the pages that hold something.
async fn used(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    let row = sqlx::query(
        "SELECT (page_count - freelist_count) * page_size AS used \
         FROM pragma_page_count, pragma_freelist_count, pragma_page_size",
    )
    .fetch_one(connection)
    .await?;
    row.try_get("used")
}

async fn oldest(connection: &mut SqliteConnection) -> Result<Option<i64>, sqlx::Error> {
    sqlx::query_scalar("SELECT asked_ms FROM runs ORDER BY seq LIMIT 1")
        .fetch_optional(connection)
        .await
}

/// Time of the newest run.
pub(crate) async fn newest(connection: &mut SqliteConnection) -> Result<Option<i64>, sqlx::Error> {
    sqlx::query_scalar("SELECT asked_ms FROM runs ORDER BY seq DESC LIMIT 1")
        .fetch_optional(connection)
        .await
}

/// Marks what processes left open that are no more.
pub(crate) async fn close_interrupted(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let dead = dead(connection).await?;
    if dead.is_empty() {
        return Ok(());
    }
    let mut step = connection.begin_with("BEGIN IMMEDIATE").await?;
    for process in dead {
        for statement in [
            "UPDATE runs SET status = 'interrupted' WHERE process = ? AND status IS NULL",
            "UPDATE sessions SET ending = 'interrupted' WHERE process = ? AND ending IS NULL",
            "UPDATE processes SET ending = 'interrupted', ended_ms = begun_ms WHERE id = ?",
        ] {
            sqlx::query(statement).bind(process).execute(&mut *step).await?;
        }
    }
    step.commit().await
}

/// Numbers of processes that have not said that they ended and are no more.
pub(crate) async fn dead(connection: &mut SqliteConnection) -> Result<Vec<i64>, sqlx::Error> {
    let open = sqlx::query(
        "SELECT id, pid, pid_namespace, started_ticks, boot FROM processes WHERE ended_ms IS NULL",
    )
    .fetch_all(connection)
    .await?;
    let mut dead = Vec::new();
    for row in open {
        let identity = Identity {
            pid: row.try_get("pid")?,
            pid_namespace: row.try_get("pid_namespace")?,
            started_ticks: row.try_get("started_ticks")?,
            boot: row.try_get("boot")?,
        };
        if !identity.lives() {
            dead.push(row.try_get("id")?);
        }
    }
    Ok(dead)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use types::RunId;

    use super::*;
    use crate::database::{self, Purpose};
    use crate::insert;
    use crate::rows::{Closing, Row, Session};

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
        let file = directory.path().join("records.db");
        let mut connection = database::open(&file, Purpose::Write).await.expect("a database");
        let process = insert::process(&mut connection, None).await.expect("a number");
        let closed = |life, at_ms| {
            let ending = "closed";
            Row::Closed(session(life), Closing { at_ms, ending })
        };
        let mut rows: Vec<_> = (1..=3).map(|life| Row::Opened(session(life))).collect();
        rows.extend([closed(1, 2), closed(2, now_ms())]);
        insert::batch(&mut connection, process, &rows)
            .await
            .expect("written");
        step(&mut connection, Duration::from_secs(3600), u64::MAX)
            .await
            .expect("pruned");
        let left: Vec<i64> = sqlx::query_scalar("SELECT life FROM sessions ORDER BY life")
            .fetch_all(&mut connection)
            .await
            .expect("sessions");
        assert_eq!(left, [2, 3]);
    }

    async fn runs_left(file: &std::path::Path, keep_size: u64) -> i64 {
        let mut connection = database::open(file, Purpose::Write).await.expect("a database");
        step(&mut connection, Duration::from_secs(3600), keep_size)
            .await
            .expect("pruned");
        sqlx::query_scalar("SELECT count(*) FROM runs")
            .fetch_one(&mut connection)
            .await
            .expect("a number")
    }

    #[tokio::test]
    async fn what_is_saved_counts_for_nothing_and_stays() {
        let directory = tempfile::tempdir().expect("a directory");
        let config = crate::RecordsConfig::below(directory.path());
        let records = crate::Records::new(config.clone());
        let attempt = crate::Attempt {
            run: RunId::new("r-1".to_owned()),
            principal: types::Principal::local(),
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
        let saved = crate::Saved::new(config.file.clone());
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
        assert_eq!(runs_left(&config.file, 500_000).await, 1);
        assert_eq!(runs_left(&config.file, 1000).await, 0);
        assert_eq!(saved.memories(&principal).await.expect("listed").len(), 3);
    }
}
