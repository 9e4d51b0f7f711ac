//! Rows of memories.

use serde_json::value::RawValue;
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection as _, Row as _, SqliteConnection};
use types::Principal;

use super::bounds::Content;
use super::room::{self, SavedKind};
use super::values::{Memory, MemoryHead, NewMemory, SavedBy};
use crate::clock::now_ms;
use crate::rows::number;
use crate::saved_error::Fault;

const HEADS: &str = "SELECT key, version, bytes, created_ms, updated_ms, run, metadata FROM memories \
    WHERE principal = ? ORDER BY key";
const HEAD: &str = "SELECT key, version, bytes, created_ms, updated_ms, run, metadata FROM memories \
    WHERE principal = ? AND key = ?";

/// What is there of a key.
#[derive(Debug, Clone, Copy)]
struct Stored {
    version: i64,
    bytes: i64,
    created_ms: i64,
}

pub(crate) async fn save(
    connection: &mut SqliteConnection,
    by: SavedBy<'_>,
    memory: NewMemory<'_>,
    content: &Content,
) -> Result<u64, Fault> {
    let mut step = connection.begin_with("BEGIN IMMEDIATE").await?;
    let stored = stored(&mut step, by.principal, memory.key).await?;
    let version = stored.map_or(0, |stored| stored.version.unsigned_abs());
    if let Some(expected) = memory.expected
        && expected != version
    {
        return Err(Fault::Conflict {
            key: memory.key.to_owned(),
            stored: version,
            expected,
        });
    }
    let replaced = stored.map(|stored| stored.bytes);
    room::check(
        &mut step,
        by.principal,
        SavedKind::Memory,
        content.bytes(),
        replaced,
    )
    .await?;
    let now = now_ms();
    let (created, updated) = memory.times.unwrap_or((now, now));
    let version = next_version(&mut step, by.principal).await?;
    sqlx::query(
        "INSERT INTO memories (principal, key, version, bytes, created_ms, updated_ms, run, metadata, value) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) \
         ON CONFLICT (principal, key) DO UPDATE SET version = excluded.version, bytes = excluded.bytes, \
         updated_ms = excluded.updated_ms, run = excluded.run, metadata = excluded.metadata, value = excluded.value",
    )
    .bind(by.principal.to_string())
    .bind(memory.key)
    .bind(version)
    .bind(number(content.bytes() as u64))
    .bind(stored.map_or(created, |stored| stored.created_ms))
    .bind(updated)
    .bind(by.run.map(ToString::to_string))
    .bind(&content.metadata)
    .bind(&content.value)
    .execute(&mut *step)
    .await?;
    step.commit().await?;
    Ok(version.unsigned_abs())
}

async fn stored(
    connection: &mut SqliteConnection,
    principal: &Principal,
    key: &str,
) -> Result<Option<Stored>, sqlx::Error> {
    let row = sqlx::query("SELECT version, bytes, created_ms FROM memories WHERE principal = ? AND key = ?")
        .bind(principal.to_string())
        .bind(key)
        .fetch_optional(connection)
        .await?;
    let stored = row.map(|row| {
        Ok(Stored {
            version: row.try_get("version")?,
            bytes: row.try_get("bytes")?,
            created_ms: row.try_get("created_ms")?,
        })
    });
    stored.transpose()
}

/// A version that no memory of the principal has had, so that whoever read a memory that was since deleted and saved
/// again notices.
async fn next_version(connection: &mut SqliteConnection, principal: &Principal) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar(
        "INSERT INTO memory_versions (principal, newest) VALUES (?, 1) \
         ON CONFLICT (principal) DO UPDATE SET newest = newest + 1 RETURNING newest",
    )
    .bind(principal.to_string())
    .fetch_one(connection)
    .await
}

pub(crate) async fn load(
    connection: &mut SqliteConnection,
    principal: &Principal,
    key: &str,
) -> Result<Option<Memory>, Fault> {
    let row = sqlx::query("SELECT * FROM memories WHERE principal = ? AND key = ?")
        .bind(principal.to_string())
        .bind(key)
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(Memory {
        head: head(&row)?,
        value: json(row.try_get("value")?)?,
    }))
}

pub(crate) async fn load_head(
    connection: &mut SqliteConnection,
    principal: &Principal,
    key: &str,
) -> Result<Option<MemoryHead>, Fault> {
    let row = sqlx::query(HEAD)
        .bind(principal.to_string())
        .bind(key)
        .fetch_optional(connection)
        .await?;
    Ok(row.as_ref().map(head).transpose()?)
}

pub(crate) async fn delete(
    connection: &mut SqliteConnection,
    principal: &Principal,
    key: &str,
) -> Result<bool, Fault> {
    let deleted = sqlx::query("DELETE FROM memories WHERE principal = ? AND key = ?")
        .bind(principal.to_string())
        .bind(key)
        .execute(connection)
        .await?;
    Ok(deleted.rows_affected() > 0)
}

pub(crate) async fn all(
    connection: &mut SqliteConnection,
    principal: &Principal,
) -> Result<Vec<MemoryHead>, Fault> {
    let rows = sqlx::query(HEADS)
        .bind(principal.to_string())
        .fetch_all(connection)
        .await?;
    let heads = rows.iter().map(head).collect::<Result<_, _>>()?;
    Ok(heads)
}

fn head(row: &SqliteRow) -> Result<MemoryHead, sqlx::Error> {
    Ok(MemoryHead {
        key: row.try_get("key")?,
        metadata: json(row.try_get("metadata")?)?,
        created_ms: row.try_get("created_ms")?,
        updated_ms: row.try_get("updated_ms")?,
        version: row.try_get::<i64, _>("version")?.unsigned_abs(),
        bytes: row.try_get::<i64, _>("bytes")?.unsigned_abs(),
        run: row.try_get("run")?,
    })
}

/// Somebody may have changed the file by other means.
fn json(text: String) -> Result<Box<RawValue>, sqlx::Error> {
    RawValue::from_string(text).map_err(|error| sqlx::Error::Decode(Box::new(error)))
}
