//! Leases and positions of sinks.

use std::time::Duration;

use super::{SinkHolder, SinkPage};
use crate::connection::{Connection, Statement};

/// Name of the lock that is held while a sink is created.
const MAKING: &str = "codeyard: sinks";

/// The source of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SinkSource {
    /// Runs, calls and events written by this process.
    Process(i64),
    /// The audit table.
    Audit,
}

/// A sink's unsent records of one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SinkBacklog {
    /// Source of the records.
    pub source: SinkSource,
    /// Number of the newest sent record.
    pub after: i64,
    /// Number of the newest record.
    pub last: i64,
}

// === impl SinkBacklog ===

impl SinkBacklog {
    /// Number of unsent records.
    pub fn len(&self) -> i64 {
        self.last - self.after
    }

    /// Whether all records are sent.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

pub(super) async fn lease(
    connection: &mut Connection,
    holder: &SinkHolder,
    time: Duration,
) -> Result<bool, sqlx::Error> {
    let ms = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    if take(connection, holder, ms).await? {
        return Ok(true);
    }
    connection.begin_alone(MAKING).await?;
    let sql = "INSERT INTO sinks (name, holder, until_ms, audit) \
         SELECT $1, '', 0, coalesce((SELECT sequence FROM audit_head), 0) \
         WHERE NOT EXISTS (SELECT 1 FROM sinks WHERE name = $1)";
    let made = connection
        .execute(Statement::new(sql).bind(holder.sink.as_str()))
        .await?;
    if made > 0 {
        let sql = "INSERT INTO sink_positions (sink, process, number) SELECT $1, id, records FROM processes";
        connection
            .execute(Statement::new(sql).bind(holder.sink.as_str()))
            .await?;
    }
    connection.commit().await?;
    match made {
        0 => Ok(false),
        _ => take(connection, holder, ms).await,
    }
}

/// Renews this process's lease, or takes an expired lease.
async fn take(connection: &mut Connection, holder: &SinkHolder, ms: i64) -> Result<bool, sqlx::Error> {
    let clock = connection.clock();
    let sql = format!(
        "UPDATE sinks SET holder = $2, until_ms = {clock} + $3 \
         WHERE name = $1 AND (holder = $2 OR until_ms < {clock})"
    );
    let taken = Statement::new(sql)
        .bind(holder.sink.as_str())
        .bind(holder.process.as_str())
        .bind(ms);
    Ok(connection.execute(taken).await? > 0)
}

pub(super) async fn release(connection: &mut Connection, holder: &SinkHolder) -> Result<(), sqlx::Error> {
    // Keep the time, because retention removes sinks by their last use.
    let sql = format!(
        "UPDATE sinks SET holder = '', until_ms = {} - 1 WHERE name = $1 AND holder = $2",
        connection.clock()
    );
    let released = Statement::new(sql)
        .bind(holder.sink.as_str())
        .bind(holder.process.as_str());
    connection.execute(released).await.map(drop)
}

pub(super) async fn backlog(
    connection: &mut Connection,
    sink: &str,
) -> Result<Vec<SinkBacklog>, sqlx::Error> {
    let sql = "SELECT id, records, coalesce(number, 0) AS number FROM processes \
         LEFT JOIN sink_positions ON process = id AND sink = $1 WHERE records > coalesce(number, 0) ORDER BY id";
    let rows = connection.fetch_all(Statement::new(sql).bind(sink)).await?;
    let mut waiting = Vec::with_capacity(rows.len() + 1);
    for row in rows {
        waiting.push(SinkBacklog {
            source: SinkSource::Process(row.get("id")?),
            after: row.get("number")?,
            last: row.get("records")?,
        });
    }
    let sql =
        "SELECT audit, coalesce((SELECT sequence FROM audit_head), 0) AS last FROM sinks WHERE name = $1";
    if let Some(row) = connection.fetch_optional(Statement::new(sql).bind(sink)).await? {
        waiting.push(SinkBacklog {
            source: SinkSource::Audit,
            after: row.get("audit")?,
            last: row.get("last")?,
        });
    }
    waiting.retain(|backlog| !backlog.is_empty());
    Ok(waiting)
}

pub(super) async fn advance(
    connection: &mut Connection,
    holder: &SinkHolder,
    page: &SinkPage,
) -> Result<bool, sqlx::Error> {
    connection.begin_to_write().await?;
    let sql = match page.source {
        SinkSource::Audit => "UPDATE sinks SET audit = $3 WHERE name = $1 AND holder = $2",
        // Locks the row, so that no other process takes the lease before the commit.
        SinkSource::Process(_) => {
            "UPDATE sinks SET audit = audit WHERE name = $1 AND holder = $2 AND $3 >= 0"
        }
    };
    let held = Statement::new(sql)
        .bind(holder.sink.as_str())
        .bind(holder.process.as_str())
        .bind(page.until);
    let is_held = connection.execute(held).await? > 0;
    if let (true, SinkSource::Process(process)) = (is_held, page.source) {
        let sql = "INSERT INTO sink_positions (sink, process, number) VALUES ($1, $2, $3) \
             ON CONFLICT (sink, process) DO UPDATE SET number = excluded.number";
        let noted = Statement::new(sql)
            .bind(holder.sink.as_str())
            .bind(process)
            .bind(page.until);
        connection.execute(noted).await?;
    }
    connection.commit().await?;
    Ok(is_held)
}
