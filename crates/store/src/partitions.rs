//! Daily partitions of records on Postgres: created before the first row of a day, removed as a whole.

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveDate, NaiveTime};

use crate::clock::now_ms;
use crate::connection::postgres::run_script;
use crate::connection::{Connection, Statement};
use crate::prune::Left;
use crate::rows::Row;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Tables that are partitioned by day.
const TABLES: [&str; 6] = [
    "runs",
    "calls",
    "events",
    "receipts",
    "receipt_calls",
    "recordings",
];
/// Name of the lock that is held briefly while partitions are created or removed.
const CHANGING: &str = "codeyard: days";
const IMPATIENT: &str = "SET LOCAL lock_timeout = '5s'";

/// Days since 1970 that have partitions.
#[derive(Debug, Default)]
pub(crate) struct Days {
    there: BTreeSet<i64>,
}

// === impl Days ===

impl Days {
    /// Creates the missing partitions for these rows, and the partition for tomorrow.
    pub(crate) async fn prepare(
        &mut self,
        connection: &mut Connection,
        rows: &[Row],
    ) -> Result<(), sqlx::Error> {
        if !connection.is_postgres() {
            return Ok(());
        }
        let today = day(now_ms());
        let wanted = rows.iter().filter_map(Row::time_ms).map(day);
        let missing: BTreeSet<i64> = wanted
            .chain([today, today + 1])
            .filter(|day| !self.there.contains(day))
            .collect();
        if !missing.is_empty() {
            make(connection, &missing).await?;
            self.there.extend(missing);
        }
        Ok(())
    }
}

fn day(ms: i64) -> i64 {
    ms.div_euclid(DAY_MS)
}

pub(crate) async fn make(connection: &mut Connection, days: &BTreeSet<i64>) -> Result<(), sqlx::Error> {
    connection.begin_alone(CHANGING).await?;
    run_script(connection, IMPATIENT).await?;
    // Also for days that exist: an older codeyard makes them without the newest table.
    for day in days {
        let (first, end) = (day * DAY_MS, (day + 1) * DAY_MS);
        for table in TABLES {
            let sql = format!(
                "CREATE TABLE IF NOT EXISTS {table}_{} PARTITION OF {table} FOR VALUES FROM ({first}) TO ({end})",
                suffix(*day)
            );
            connection.execute(Statement::new(sql)).await?;
        }
    }
    connection.commit().await
}

/// Days since 1970 of these times.
pub(crate) fn days_of(times_ms: impl IntoIterator<Item = i64>) -> BTreeSet<i64> {
    times_ms.into_iter().map(day).collect()
}

/// Removes the partitions of days that ended before `too_old` (milliseconds since 1970). If no day is too old, and all
/// days together take more than `most` bytes, removes the oldest day before today.
pub(crate) async fn remove(
    connection: &mut Connection,
    too_old: i64,
    most: i64,
) -> Result<Left, sqlx::Error> {
    let days = all(connection).await?;
    let mut doomed: Vec<i64> = days
        .iter()
        .map(|(day, _)| *day)
        .filter(|day| (day + 1) * DAY_MS <= too_old)
        .collect();
    let bytes: i64 = days.iter().map(|(_, bytes)| bytes).sum();
    let oldest = days.first().map(|(day, _)| *day);
    if doomed.is_empty() && bytes > most {
        doomed.extend(oldest.filter(|oldest| *oldest < day(now_ms())));
    }
    if doomed.is_empty() {
        return Ok(Left::Nothing);
    }
    let is_too_large = doomed.iter().all(|day| (day + 1) * DAY_MS > too_old);
    connection.begin_alone(CHANGING).await?;
    run_script(connection, IMPATIENT).await?;
    // Recordings are large, so they make room before any record does.
    if is_too_large && let Some(day) = oldest_recordings(connection).await? {
        let sql = format!("DROP TABLE recordings_{}", suffix(day));
        connection.execute(Statement::new(sql)).await?;
        connection.commit().await?;
        return Ok(Left::More);
    }
    for day in doomed {
        for table in TABLES {
            let sql = format!("DROP TABLE IF EXISTS {table}_{}", suffix(day));
            connection.execute(Statement::new(sql)).await?;
        }
    }
    connection.commit().await?;
    Ok(Left::More)
}

/// The oldest day before today that has recordings.
async fn oldest_recordings(connection: &mut Connection) -> Result<Option<i64>, sqlx::Error> {
    let sql = "SELECT substr(CAST(part.relname AS TEXT), length(whole.relname) + 2) AS day \
         FROM pg_inherits JOIN pg_class AS whole ON whole.oid = pg_inherits.inhparent \
         JOIN pg_class AS part ON part.oid = pg_inherits.inhrelid \
         WHERE whole.relname = 'recordings' \
         AND whole.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) ORDER BY day LIMIT 1";
    let oldest = connection.fetch_optional(Statement::new(sql)).await?;
    let day_name: Option<String> = oldest.map(|row| row.get("day")).transpose()?;
    let oldest = day_name.as_deref().and_then(day_of);
    Ok(oldest.filter(|oldest| *oldest < day(now_ms())))
}

/// All days with the bytes of each, oldest first.
async fn all(connection: &mut Connection) -> Result<Vec<(i64, i64)>, sqlx::Error> {
    let sql = "SELECT substr(CAST(part.relname AS TEXT), length(whole.relname) + 2) AS day, \
         CAST(sum(pg_total_relation_size(part.oid)) AS BIGINT) AS bytes \
         FROM pg_inherits JOIN pg_class AS whole ON whole.oid = pg_inherits.inhparent \
         JOIN pg_class AS part ON part.oid = pg_inherits.inhrelid \
         WHERE whole.relkind = 'p' \
         AND whole.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) \
         AND whole.relname IN ('runs', 'calls', 'events', 'receipts', 'receipt_calls', 'recordings') GROUP BY day ORDER BY day";
    let rows = connection.fetch_all(Statement::new(sql)).await?;
    let mut days = Vec::new();
    for row in rows {
        // Skip a table that a person added under another name.
        if let Some(day) = day_of(&row.get::<String>("day")?) {
            days.push((day, row.get("bytes")?));
        }
    }
    Ok(days)
}

/// The end of the names of a day's tables, such as 20261126.
fn suffix(day: i64) -> String {
    let date = DateTime::from_timestamp_millis(day * DAY_MS).unwrap_or_default();
    date.format("%Y%m%d").to_string()
}

fn day_of(suffix: &str) -> Option<i64> {
    let date = NaiveDate::parse_from_str(suffix, "%Y%m%d").ok()?;
    Some(day(date.and_time(NaiveTime::MIN).and_utc().timestamp_millis()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_named_after_days() {
        for (ms, name) in [
            (0, "19700101"),
            (1_795_651_200_000, "20261126"),
            (1_795_651_199_999, "20261125"),
        ] {
            assert_eq!(suffix(day(ms)), name);
            assert_eq!(day_of(name), Some(day(ms)));
        }
        assert_eq!(day_of("default"), None);
    }
}
