//! Sizes of saved values: of one principal for the limits, of all principals for the retention of records.

use types::Principal;

use super::bounds::{MAX_BYTES, MAX_MEMORIES, MAX_SOURCES, MAX_TOOLS};
use crate::connection::{Connection, Statement};
use crate::rows::number;
use crate::saved_error::Fault;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SavedKind {
    Tool,
    Memory,
}

/// Size of the principal's saved values, without the value being saved.
#[derive(Debug)]
struct Others {
    tools: i64,
    sources: i64,
    memories: i64,
    values: i64,
}

/// Begins a transaction during which no other process can save for this principal.
pub(crate) async fn begin(connection: &mut Connection, principal: &Principal) -> Result<(), sqlx::Error> {
    connection
        .begin_alone(&format!("codeyard: saved {principal}"))
        .await
}

/// Refuses a value that exceeds the limits; `replaced` is the size of the value that it replaces, if any.
pub(crate) async fn check(
    connection: &mut Connection,
    principal: &Principal,
    what: SavedKind,
    bytes: usize,
    replaced: Option<i64>,
) -> Result<(), Fault> {
    let Others {
        tools,
        sources,
        memories,
        values,
    } = others(connection, principal).await?;
    let (count, most, name) = match what {
        SavedKind::Tool => (tools, MAX_TOOLS, "tools"),
        SavedKind::Memory => (memories, MAX_MEMORIES, "memories"),
    };
    if replaced.is_none() && count >= i64::from(most) {
        return Err(Fault::Refused(format!(
            "there are {count} saved {name} and {most} are allowed; remove unused ones"
        )));
    }
    let fresh = number(bytes as u64) - replaced.unwrap_or(0);
    // A replacement of the same size or smaller always fits.
    if what == SavedKind::Tool && fresh > 0 && sources + fresh > number(MAX_SOURCES) {
        return Err(Fault::Refused(format!(
            "the sources of saved tools would take {} bytes together and {MAX_SOURCES} are allowed; \
             remove unused ones",
            sources + fresh
        )));
    }
    let together = sources + values + fresh;
    if together > number(MAX_BYTES) {
        return Err(Fault::Refused(format!(
            "saved tools and memories would take {together} bytes together and {MAX_BYTES} are allowed; \
             remove what is not needed"
        )));
    }
    Ok(())
}

async fn others(connection: &mut Connection, principal: &Principal) -> Result<Others, sqlx::Error> {
    let sql = "SELECT (SELECT count(*) FROM saved_tools WHERE principal = $1) AS tools, \
         (SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM saved_tools WHERE principal = $1) AS sources, \
         (SELECT count(*) FROM memories WHERE principal = $1) AS memories, \
         (SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM memories WHERE principal = $1) AS \"values\"";
    let row = connection
        .fetch_one(Statement::new(sql).bind(principal.to_string()))
        .await?;
    Ok(Others {
        tools: row.get("tools")?,
        sources: row.get("sources")?,
        memories: row.get("memories")?,
        values: row.get("values")?,
    })
}

/// Approximate bytes of all principals' saved values in the file; a large value has its own pages.
pub(crate) async fn held(connection: &mut Connection) -> Result<i64, sqlx::Error> {
    let sql = "SELECT CAST(coalesce(sum(CASE WHEN bytes < 2048 THEN bytes + 256 \
         ELSE (bytes / 4092 + 1) * 4096 + 512 END), 0) AS BIGINT) AS value \
         FROM (SELECT bytes FROM saved_tools UNION ALL SELECT bytes FROM memories) AS saved";
    connection.fetch_value(Statement::new(sql)).await
}
