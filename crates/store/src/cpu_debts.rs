//! CPU debts of principals and tenants, shared by all processes on one database.
//!
//! A program's CPU time adds to the debt. The debt drains at the quota's rate, in seconds a minute. Callers refuse
//! new programs while the debt is at least a minute's worth, so a long program is also paid off in full.

use std::sync::Arc;
use std::time::Duration;

use crate::accounts::Moment;
use crate::connection::{Connection, Statement, Tables};
use crate::database::Database;
use crate::slot::ConnectionSlot;
use crate::trouble::Trouble;

/// After this time, in milliseconds, everything has drained. Keeps products of time and rate within 64 bits.
const LONG_AGO_MS: i64 = 10_000_000_000;

/// Charges CPU time. Cheap to clone; opens the database on first use.
#[derive(Debug, Clone)]
pub struct CpuDebts {
    slot: Arc<ConnectionSlot>,
}

/// The quota of one principal or tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuQuota {
    /// Names the principal or tenant.
    pub key: String,
    /// CPU seconds in a minute, at most 100,000.
    pub seconds_per_minute: u32,
}

// === impl CpuDebts ===

impl CpuDebts {
    /// Debts in this database. Records may use the same database.
    pub fn new(database: Database) -> CpuDebts {
        CpuDebts {
            slot: Arc::new(ConnectionSlot::new(database, Tables::CpuDebts)),
        }
    }

    /// The current debt.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn used(&self, quota: &CpuQuota, now: Moment) -> Result<Duration, Trouble> {
        let used = self.slot.write(async |connection: &mut Connection| {
            let now = now.sql(connection);
            let sql = format!(
                "SELECT {} AS value, at_ms - {now} AS ahead_ms FROM cpu_debts WHERE key = $1",
                drained(&now)
            );
            let Some(row) = connection.fetch_optional(quota.of(sql)).await? else {
                return Ok(None);
            };
            if row.get::<i64>("ahead_ms")? > 0 {
                // The clock was set back. Without this, the debt would not drain until the clock reaches the old time.
                let sql = format!("UPDATE cpu_debts SET at_ms = {now} WHERE key = $1 AND at_ms > {now}");
                connection
                    .execute(Statement::new(sql).bind(quota.key.as_str()))
                    .await?;
            }
            row.get("value").map(Some)
        });
        let used: Result<Option<i64>, Trouble> = used.await;
        let used = u64::try_from(used?.unwrap_or_default());
        Ok(Duration::from_micros(used.unwrap_or_default()))
    }

    /// Adds time to the debt.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn add(&self, quota: &CpuQuota, time: Duration, now: Moment) -> Result<(), Trouble> {
        let added = self.slot.write(async |connection: &mut Connection| {
            let sql = format!(
                "INSERT INTO cpu_debts (key, used_us, at_ms) \
                 SELECT $1, CAST($3 AS BIGINT), clock.now_ms FROM (SELECT {} AS now_ms) AS clock WHERE 1 = 1 \
                 ON CONFLICT (key) DO UPDATE SET used_us = {} + excluded.used_us, at_ms = excluded.at_ms",
                now.sql(connection),
                drained("excluded.at_ms")
            );
            connection
                .execute(quota.of(sql).bind(crate::clock::micros(time)))
                .await
        });
        added.await.map(drop)
    }

    /// Closes the database. A later call opens the database again.
    pub async fn close(&self) {
        self.slot.close_soon().await;
    }
}

// === impl CpuQuota ===

impl CpuQuota {
    /// Binds the key and the rate, in microseconds per 60 ms.
    fn of(&self, sql: String) -> Statement {
        let rate = i64::from(self.seconds_per_minute) * 1000;
        Statement::new(sql).bind(self.key.as_str()).bind(rate)
    }
}

/// SQL for a row's remaining debt; `$2` is the rate. If the clock was set back, the debt stays.
fn drained(now: &str) -> String {
    let since = format!("({now} - cpu_debts.at_ms)");
    format!(
        "CASE WHEN {since} <= 0 THEN cpu_debts.used_us \
         WHEN {since} >= {LONG_AGO_MS} OR cpu_debts.used_us <= {since} * $2 / 60 THEN 0 \
         ELSE cpu_debts.used_us - {since} * $2 / 60 END"
    )
}
