//! Rows of memories.

use serde_json::value::RawValue;
use types::{Principal, RunId};

use super::bounds::Content;
use super::room::{self, SavedKind};
use super::values::{Memory, MemoryHead, NewMemory, SavedBy};
use crate::clock::now_ms;
use crate::connection::{Connection, SqlRow, Statement};
use crate::rows::number;
use crate::saved_error::Fault;

const HEADS: &str = "SELECT key, version, bytes, created_ms, updated_ms, run, metadata FROM memories \
    WHERE principal = $1 ORDER BY key";
const HEAD: &str = "SELECT key, version, bytes, created_ms, updated_ms, run, metadata FROM memories \
    WHERE principal = $1 AND key = $2";

#[derive(Debug, Clone, Copy)]
struct Stored {
    version: i64,
    bytes: i64,
    created_ms: i64,
}

pub(crate) async fn save(
    connection: &mut Connection,
    by: SavedBy<'_>,
    memory: NewMemory<'_>,
    content: &Content,
) -> Result<u64, Fault> {
    room::begin(connection, by.principal).await?;
    let stored = stored(connection, by.principal, memory.key).await?;
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
        connection,
        by.principal,
        SavedKind::Memory,
        content.bytes(),
        replaced,
    )
    .await?;
    let now = now_ms();
    let (created, updated) = memory.times.unwrap_or((now, now));
    let version = next_version(connection, by.principal).await?;
    let sql = "INSERT INTO memories (principal, key, version, bytes, created_ms, updated_ms, run, metadata, value) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
         ON CONFLICT (principal, key) DO UPDATE SET version = excluded.version, bytes = excluded.bytes, \
         updated_ms = excluded.updated_ms, run = excluded.run, metadata = excluded.metadata, value = excluded.value";
    let statement = of_key(sql, by.principal, memory.key)
        .bind(version)
        .bind(number(content.bytes() as u64))
        .bind(stored.map_or(created, |stored| stored.created_ms))
        .bind(updated)
        .bind(by.run.map(RunId::as_str))
        .bind(content.metadata.as_str())
        .bind(content.value.as_str());
    connection.execute(statement).await?;
    connection.commit().await?;
    Ok(version.unsigned_abs())
}

fn of_key(sql: &'static str, principal: &Principal, key: &str) -> Statement {
    Statement::new(sql).bind(principal.to_string()).bind(key)
}

async fn stored(
    connection: &mut Connection,
    principal: &Principal,
    key: &str,
) -> Result<Option<Stored>, sqlx::Error> {
    let sql = "SELECT version, bytes, created_ms FROM memories WHERE principal = $1 AND key = $2";
    let row = connection.fetch_optional(of_key(sql, principal, key)).await?;
    let stored = row.map(|row| {
        Ok(Stored {
            version: row.get("version")?,
            bytes: row.get("bytes")?,
            created_ms: row.get("created_ms")?,
        })
    });
    stored.transpose()
}

/// A version that is new for the principal, so that a reader detects a memory that was deleted and saved again.
async fn next_version(connection: &mut Connection, principal: &Principal) -> Result<i64, sqlx::Error> {
    let sql = "INSERT INTO memory_versions (principal, newest) VALUES ($1, 1) \
         ON CONFLICT (principal) DO UPDATE SET newest = memory_versions.newest + 1 RETURNING newest AS value";
    connection
        .fetch_value(Statement::new(sql).bind(principal.to_string()))
        .await
}

pub(crate) async fn load(
    connection: &mut Connection,
    principal: &Principal,
    key: &str,
) -> Result<Option<Memory>, Fault> {
    let asked = of_key(
        "SELECT * FROM memories WHERE principal = $1 AND key = $2",
        principal,
        key,
    );
    let Some(row) = connection.fetch_optional(asked).await? else {
        return Ok(None);
    };
    Ok(Some(Memory {
        head: head(&row)?,
        value: json(row.get("value")?)?,
    }))
}

pub(crate) async fn load_head(
    connection: &mut Connection,
    principal: &Principal,
    key: &str,
) -> Result<Option<MemoryHead>, Fault> {
    let row = connection.fetch_optional(of_key(HEAD, principal, key)).await?;
    Ok(row.as_ref().map(head).transpose()?)
}

pub(crate) async fn delete(
    connection: &mut Connection,
    principal: &Principal,
    key: &str,
) -> Result<bool, Fault> {
    let statement = of_key(
        "DELETE FROM memories WHERE principal = $1 AND key = $2",
        principal,
        key,
    );
    Ok(connection.execute(statement).await? > 0)
}

pub(crate) async fn all(
    connection: &mut Connection,
    principal: &Principal,
) -> Result<Vec<MemoryHead>, Fault> {
    let rows = connection
        .fetch_all(Statement::new(HEADS).bind(principal.to_string()))
        .await?;
    let heads = rows.iter().map(head).collect::<Result<_, _>>()?;
    Ok(heads)
}

fn head(row: &SqlRow) -> Result<MemoryHead, sqlx::Error> {
    Ok(MemoryHead {
        key: row.get("key")?,
        metadata: json(row.get("metadata")?)?,
        created_ms: row.get("created_ms")?,
        updated_ms: row.get("updated_ms")?,
        version: row.get::<i64>("version")?.unsigned_abs(),
        bytes: row.get::<i64>("bytes")?.unsigned_abs(),
        run: row.get("run")?,
    })
}

/// Checks the JSON, because a person may have edited the file.
fn json(text: String) -> Result<Box<RawValue>, sqlx::Error> {
    RawValue::from_string(text).map_err(|error| sqlx::Error::Decode(Box::new(error)))
}
