//! How much is saved: of one principal, against what it may, and of all, for whoever bounds the records beside it.

use sqlx::{Row as _, SqliteConnection};
use types::Principal;

use super::bounds::{MAX_BYTES, MAX_MEMORIES, MAX_SOURCES, MAX_TOOLS};
use crate::rows::number;
use crate::saved_error::Fault;

/// Which of both is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SavedKind {
    Tool,
    Memory,
}

/// What a principal has besides the one thing that is saved now.
#[derive(Debug)]
struct Others {
    tools: i64,
    /// Bytes of the tools.
    sources: i64,
    memories: i64,
    /// Bytes of the memories.
    values: i64,
}

/// Refuses what does not fit beside the others; `replaced` is the size of what it replaces, if there is such.
pub(crate) async fn check(
    connection: &mut SqliteConnection,
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
            "there are {count} saved {name} and {most} are allowed; remove one that is not needed"
        )));
    }
    let fresh = number(bytes as u64) - replaced.unwrap_or(0);
    // What is no larger than what it replaces is always taken.
    if what == SavedKind::Tool && fresh > 0 && sources + fresh > number(MAX_SOURCES) {
        return Err(Fault::Refused(format!(
            "the sources of saved tools would take {} bytes together and {MAX_SOURCES} are allowed; \
             remove one that is not needed",
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

async fn others(connection: &mut SqliteConnection, principal: &Principal) -> Result<Others, sqlx::Error> {
    let row = sqlx::query(
        "SELECT (SELECT count(*) FROM saved_tools WHERE principal = ?1) AS tools, \
         (SELECT coalesce(sum(bytes), 0) FROM saved_tools WHERE principal = ?1) AS sources, \
         (SELECT count(*) FROM memories WHERE principal = ?1) AS memories, \
         (SELECT coalesce(sum(bytes), 0) FROM memories WHERE principal = ?1) AS \"values\"",
    )
    .bind(principal.to_string())
    .fetch_one(connection)
    .await?;
    Ok(Others {
        tools: row.try_get("tools")?,
        sources: row.try_get("sources")?,
        memories: row.try_get("memories")?,
        values: row.try_get("values")?,
    })
}

/// Bytes of the file that saved things of all principals take, about: a large one has pages of its own.
pub(crate) async fn held(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT coalesce(sum(CASE WHEN bytes < 2048 THEN bytes + 256 ELSE (bytes / 4092 + 1) * 4096 + 512 END), 0) \
         FROM (SELECT bytes FROM saved_tools UNION ALL SELECT bytes FROM memories)",
    )
    .fetch_one(connection)
    .await
}
