//! Rate limits over sliding windows, exact over all processes on one database.
//!
//! A key is granted at most so many times within any window: a row for each grant, and one transaction that counts
//! and adds.

use std::sync::Arc;
use std::time::Duration;

use crate::accounts::Moment;
use crate::connection::{Connection, Statement, Tables};
use crate::database::Database;
use crate::slot::ConnectionSlot;
use crate::trouble::Trouble;

/// Rows of windows that are over are removed after every so many grants.
const PRUNED_AFTER: i64 = 64;

/// Name of the lock that is held while rows are removed.
const PRUNING: &str = "codeyard: rate windows";

/// Counts what rate limits grant. Cheap to clone; opens the database on first use.
#[derive(Debug, Clone)]
pub struct RateWindows {
    slot: Arc<ConnectionSlot>,
}

/// Whether a rate limit grants one more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It does, and this one counts from now on.
    Granted,
    /// Not before this time has passed; at most the length of the window.
    Until(Duration),
}

/// One request for a grant, with times in milliseconds.
#[derive(Debug, Clone, Copy)]
struct Take<'a> {
    key: &'a str,
    most: i64,
    window_ms: i64,
    now: Moment,
}

// === impl RateWindows ===

impl RateWindows {
    /// Rate windows in this database, which the records may share.
    pub fn new(database: Database) -> RateWindows {
        RateWindows {
            slot: Arc::new(ConnectionSlot::new(database, Tables::RateWindows)),
        }
    }

    /// Takes one of the `most` grants of a key in each window, exact to a millisecond. A refused request does not
    /// count. Processes on several machines pass [`Moment::Database`], the clock that they share; when that clock is
    /// set back, nobody waits longer than a window.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn take(&self, key: &str, most: u32, window: Duration, now: Moment) -> Result<Taken, Trouble> {
        if most == 0 {
            return Ok(Taken::Until(window));
        }
        let take = Take {
            key,
            most: most.into(),
            window_ms: i64::try_from(window.as_millis()).unwrap_or(i64::MAX).max(1),
            now,
        };
        let taken = self.slot.write(async |connection| take.run(connection).await);
        taken.await
    }

    /// Closes the database, and so merges the journal into the file. A later call opens the database again.
    pub async fn close(&self) {
        self.slot.close_soon().await;
    }
}

// === impl Take ===

impl Take<'_> {
    async fn run(self, connection: &mut Connection) -> Result<Taken, sqlx::Error> {
        // In SQLite, one statement counts and adds while no other process writes.
        if connection.is_postgres() {
            connection
                .begin_alone(&format!("codeyard: rate window {}", self.key))
                .await?;
        }
        let granted = self.grant(connection).await?;
        let taken = match granted {
            Some(_) => Taken::Granted,
            None => Taken::Until(self.wait(connection).await?),
        };
        if connection.is_in_step() {
            connection.commit().await?;
        }
        if granted.is_some_and(|seq| seq % PRUNED_AFTER == 0) {
            self.prune(connection).await?;
        }
        Ok(taken)
    }

    /// Adds a row if the window has room; returns the row's number.
    async fn grant(self, connection: &mut Connection) -> Result<Option<i64>, sqlx::Error> {
        let sql = format!(
            "INSERT INTO rate_grants (key, at_ms, until_ms) \
             SELECT $1, clock.now_ms, clock.now_ms + $2 FROM (SELECT {} AS now_ms) AS clock \
             WHERE (SELECT COUNT(*) FROM rate_grants WHERE key = $1 AND at_ms > clock.now_ms - $2) < $3 \
             RETURNING seq",
            self.now.sql(connection)
        );
        let added = connection.fetch_optional(self.of(sql).bind(self.most)).await?;
        added.map(|row| row.get("seq")).transpose()
    }

    /// How long the window has no room.
    async fn wait(self, connection: &mut Connection) -> Result<Duration, sqlx::Error> {
        let now = self.now.sql(connection);
        // The clock was set back. Without this, the grants would count until the clock reaches them again.
        let sql = format!(
            "UPDATE rate_grants SET at_ms = clock.now_ms, until_ms = clock.now_ms + $2 \
             FROM (SELECT {now} AS now_ms) AS clock WHERE key = $1 AND at_ms > clock.now_ms"
        );
        connection.execute(self.of(sql)).await?;
        let sql = format!(
            "SELECT at_ms + $2 - {now} AS wait_ms FROM rate_grants WHERE key = $1 \
             ORDER BY at_ms DESC LIMIT 1 OFFSET $3"
        );
        let oldest = connection
            .fetch_optional(self.of(sql).bind(self.most - 1))
            .await?;
        let wait_ms: Option<i64> = oldest.map(|row| row.get("wait_ms")).transpose()?;
        // The window may have moved on since the refusal.
        let wait_ms = wait_ms.unwrap_or(1).clamp(1, self.window_ms);
        Ok(Duration::from_millis(wait_ms.unsigned_abs()))
    }

    async fn prune(self, connection: &mut Connection) -> Result<(), sqlx::Error> {
        connection.begin_alone(PRUNING).await?;
        let sql = format!(
            "DELETE FROM rate_grants WHERE until_ms <= {}",
            self.now.sql(connection)
        );
        connection.execute(Statement::new(sql)).await?;
        connection.commit().await
    }

    fn of(self, sql: String) -> Statement {
        Statement::new(sql).bind(self.key).bind(self.window_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::Purpose;

    #[tokio::test]
    async fn rows_go_when_their_windows_are_over() {
        let directory = tempfile::tempdir().expect("a directory");
        let database: Database = directory.path().join("records.db").into();
        let windows = RateWindows::new(database.clone());
        let window = Duration::from_millis(10);
        for at_ms in 0..300 {
            let key = format!("k{at_ms}");
            let taken = windows.take(&key, 1, window, Moment::At(at_ms)).await;
            assert_eq!(taken, Ok(Taken::Granted));
        }
        let mut connection = Connection::open(&database, Purpose::Write)
            .await
            .expect("a database");
        let count = Statement::new("SELECT COUNT(*) AS value FROM rate_grants");
        let rows: i64 = connection.fetch_value(count).await.expect("a number");
        assert!(rows <= PRUNED_AFTER + 10, "{rows}");
    }
}
