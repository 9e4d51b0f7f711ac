//! Windows that several processes count in Postgres: one row for each grant.
//!
//! One transaction counts and adds.

use std::time::Duration;

use super::{RateDecision, Take};
use crate::connection::{Connection, Statement};

/// Rows of expired windows are removed after this many grants.
const PRUNED_AFTER: i64 = 64;

/// Name of the lock that is held while rows are removed.
const PRUNING: &str = "codeyard: rate windows";

// === impl Take ===

impl Take<'_> {
    pub(super) async fn run(self, connection: &mut Connection) -> Result<RateDecision, sqlx::Error> {
        let key = format!("codeyard: rate window {}", self.key);
        connection.begin_alone(&key).await?;
        let granted = self.grant(connection).await?;
        let taken = match granted {
            Some(_) => RateDecision::Granted,
            None => RateDecision::Until(self.wait(connection).await?),
        };
        connection.commit().await?;
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

    /// Time until the window has room.
    async fn wait(self, connection: &mut Connection) -> Result<Duration, sqlx::Error> {
        let now = self.now.sql(connection);
        // The clock was set back. Without this, the grants would count until the clock reaches their times again.
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
