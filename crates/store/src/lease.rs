//! Records which process wrote a row and whether that process is alive.
//!
//! A live process renews its lease, timed by the database's clock.

use std::time::Duration;

use crate::clock::now_ms;
use crate::connection::{Connection, Statement, Tables};

pub(crate) const RENEW_EVERY: Duration = Duration::from_secs(5);
/// A process counts as alive for this many milliseconds after a renewal.
const LEASE_MS: i64 = 15_000;
/// Delay before an expired process's open rows are closed for good. An unreachable server or a sleeping machine
/// prevents every process from renewing.
const GRACE_MS: i64 = 60_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Registration {
    pub(crate) process: i64,
    /// Registration time, in milliseconds since 1970. If the file was replaced, another process may have the same
    /// number.
    pub(crate) begun_ms: i64,
    /// Number of the process's newest written batch.
    pub(crate) batch: i64,
}

/// Registers this process, unless its registration still exists.
pub(crate) async fn register(
    connection: &mut Connection,
    before: Option<Registration>,
) -> Result<Registration, sqlx::Error> {
    if let Some(before) = before
        && let Some(batch) = renewed(connection, before).await?
    {
        return Ok(Registration { batch, ..before });
    }
    let begun_ms = now_ms();
    let sql = format!(
        "INSERT INTO processes (host, pid, version, begun_ms, lease_ms) \
         VALUES ($1, $2, $3, $4, {} + {LEASE_MS}) RETURNING id AS value",
        connection.clock()
    );
    let statement = Statement::new(sql)
        .bind(host())
        .bind(i64::from(std::process::id()))
        .bind(env!("CARGO_PKG_VERSION"))
        .bind(begun_ms);
    Ok(Registration {
        process: connection.fetch_value(statement).await?,
        begun_ms,
        batch: 0,
    })
}

/// Renews the lease and returns the number of the newest written batch; `None` if the process is no
/// longer registered.
pub(crate) async fn renewed(
    connection: &mut Connection,
    registration: Registration,
) -> Result<Option<i64>, sqlx::Error> {
    let sql = format!(
        "UPDATE processes SET lease_ms = {} + {LEASE_MS} \
         WHERE id = $1 AND pid = $2 AND begun_ms = $3 AND ended_ms IS NULL RETURNING batch AS value",
        connection.clock()
    );
    let statement = Statement::new(sql)
        .bind(registration.process)
        .bind(i64::from(std::process::id()))
        .bind(registration.begun_ms);
    let row = connection.fetch_optional(statement).await?;
    row.map(|row| row.get("value")).transpose()
}

/// Marks a batch as written within the batch's transaction, and renews the lease. Returns the number before the
/// batch's first record; `None` if no sink exists. The lock on the process's row orders numbers by commit.
pub(crate) async fn note_batch(
    connection: &mut Connection,
    process: i64,
    batch: i64,
    records: i64,
) -> Result<Option<i64>, sqlx::Error> {
    let sql = format!(
        "UPDATE processes SET batch = $1, lease_ms = {} + {LEASE_MS}, \
         records = records + CASE WHEN EXISTS (SELECT 1 FROM sinks) THEN $3 ELSE 0 END WHERE id = $2 \
         RETURNING CASE WHEN EXISTS (SELECT 1 FROM sinks) THEN records - $3 END AS value",
        connection.clock()
    );
    let statement = Statement::new(sql).bind(batch).bind(process).bind(records);
    let row = connection.fetch_optional(statement).await?;
    Ok(row.map(|row| row.get("value")).transpose()?.flatten())
}

/// Marks this process as properly ended.
pub(crate) async fn farewell(connection: &mut Connection, process: i64) -> Result<(), sqlx::Error> {
    let statement = Statement::new("UPDATE processes SET ended_ms = $1, ending = 'closed' WHERE id = $2")
        .bind(now_ms())
        .bind(process);
    connection.execute(statement).await.map(drop)
}

/// Processes that did not end properly and whose lease has expired.
pub(crate) async fn dead(connection: &mut Connection) -> Result<Vec<i64>, sqlx::Error> {
    lapsed_for(connection, 0).await
}

/// Processes whose lease expired at least `ms` milliseconds ago.
async fn lapsed_for(connection: &mut Connection, ms: i64) -> Result<Vec<i64>, sqlx::Error> {
    let sql = match connection.has(Tables::Leases).await? {
        true => format!(
            "SELECT id FROM processes WHERE ended_ms IS NULL AND lease_ms < {} - $1",
            connection.clock()
        ),
        // A writer migrates the tables first, so these rows belong to ended processes.
        false => "SELECT id FROM processes WHERE ended_ms IS NULL AND $1 >= 0".to_owned(),
    };
    let rows = connection.fetch_all(Statement::new(sql).bind(ms)).await?;
    rows.iter().map(|row| row.get("id")).collect()
}

/// Number and machine of one live process.
pub(crate) async fn living(connection: &mut Connection) -> Result<Option<(i64, String)>, sqlx::Error> {
    let sql = format!(
        "SELECT pid, host FROM processes WHERE ended_ms IS NULL AND lease_ms >= {} LIMIT 1",
        connection.clock()
    );
    let row = connection.fetch_optional(Statement::new(sql)).await?;
    row.map(|row| Ok((row.get("pid")?, row.get("host")?))).transpose()
}

/// Marks the runs and sessions that dead processes left open.
pub(crate) async fn close_interrupted(connection: &mut Connection) -> Result<(), sqlx::Error> {
    let dead = lapsed_for(connection, GRACE_MS).await?;
    if dead.is_empty() {
        return Ok(());
    }
    connection.begin_to_write().await?;
    for process in dead {
        close(connection, process).await?;
    }
    connection.commit().await
}

/// Closes a dead process's open runs and sessions, unless another process has just done so.
async fn close(connection: &mut Connection, process: i64) -> Result<(), sqlx::Error> {
    let sql =
        "UPDATE processes SET ending = 'interrupted', ended_ms = begun_ms WHERE id = $1 AND ended_ms IS NULL";
    if connection.execute(Statement::new(sql).bind(process)).await? == 0 {
        return Ok(());
    }
    let sql = "UPDATE sessions SET ending = 'interrupted' WHERE process = $1 AND ending IS NULL";
    connection.execute(Statement::new(sql).bind(process)).await?;
    let sql = "SELECT id FROM runs WHERE process = $1 AND status IS NULL ORDER BY seq";
    for row in connection.fetch_all(Statement::new(sql).bind(process)).await? {
        // Sinks send the end of a run as a numbered record.
        let sql = "UPDATE processes SET records = records + 1 WHERE id = $1 AND EXISTS (SELECT 1 FROM sinks) \
             RETURNING records AS value";
        let numbered = connection
            .fetch_optional(Statement::new(sql).bind(process))
            .await?;
        let number: Option<i64> = numbered.map(|row| row.get("value")).transpose()?;
        let sql = "UPDATE runs SET status = 'interrupted', writer = $2, number = $3 WHERE id = $1 AND status IS NULL";
        let interrupted = Statement::new(sql)
            .bind(row.get::<String>("id")?)
            .bind(number.map(|_| process))
            .bind(number);
        connection.execute(interrupted).await?;
    }
    Ok(())
}

/// Name of this machine or container; empty if unreadable.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname");
    name.map(|name| name.trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::Purpose;

    #[tokio::test]
    async fn a_process_keeps_its_number_while_its_row_is_open() {
        let directory = tempfile::tempdir().expect("a directory");
        let database = directory.path().join("records.db").into();
        let open = async || {
            Connection::open(&database, Purpose::Write)
                .await
                .expect("a database")
        };
        let mut connection = open().await;
        let first = register(&mut connection, None).await.expect("a number");
        connection.close().await;
        let mut connection = open().await;
        let again = register(&mut connection, Some(first)).await.expect("a number");
        assert_eq!(again, first);
        farewell(&mut connection, first.process).await.expect("written");
        let later = register(&mut connection, Some(first)).await.expect("a number");
        assert_ne!(later.process, first.process);
    }

    #[tokio::test]
    async fn a_process_whose_lease_has_lapsed_does_not_live() {
        let directory = tempfile::tempdir().expect("a directory");
        let database = directory.path().join("records.db").into();
        let mut connection = Connection::open(&database, Purpose::Write)
            .await
            .expect("a database");
        let own = register(&mut connection, None).await.expect("a number");
        assert_eq!(dead(&mut connection).await.expect("numbers"), Vec::<i64>::new());
        let earlier = Statement::new("UPDATE processes SET lease_ms = lease_ms - $1").bind(LEASE_MS + 1000);
        connection.execute(earlier).await.expect("written");
        assert_eq!(dead(&mut connection).await.expect("numbers"), [own.process]);
        close_interrupted(&mut connection).await.expect("written");
        assert_eq!(renewed(&mut connection, own).await.expect("a look"), Some(0));
        assert_eq!(dead(&mut connection).await.expect("numbers"), Vec::<i64>::new());
    }
}
