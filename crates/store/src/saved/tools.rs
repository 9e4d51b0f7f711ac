//! Rows of saved functions.

use sha2::{Digest as _, Sha256};
use sqlx::{Connection as _, Row as _, SqliteConnection};
use types::Principal;

use super::room::{self, SavedKind};
use super::values::{SavedBy, SavedTool};
use crate::arguments::hex;
use crate::clock::now_ms;
use crate::rows::number;
use crate::saved_error::Fault;

pub(crate) async fn save(
    connection: &mut SqliteConnection,
    by: SavedBy<'_>,
    name: &str,
    source: &str,
) -> Result<(), Fault> {
    let mut step = connection.begin_with("BEGIN IMMEDIATE").await?;
    let replaced = sqlx::query_scalar("SELECT bytes FROM saved_tools WHERE principal = ? AND name = ?")
        .bind(by.principal.to_string())
        .bind(name)
        .fetch_optional(&mut *step)
        .await?;
    room::check(&mut step, by.principal, SavedKind::Tool, source.len(), replaced).await?;
    sqlx::query(
        "INSERT INTO saved_tools (principal, name, bytes, sha256, saved_ms, run, source) VALUES (?, ?, ?, ?, ?, ?, ?) \
         ON CONFLICT (principal, name) DO UPDATE SET bytes = excluded.bytes, sha256 = excluded.sha256, \
         saved_ms = excluded.saved_ms, run = excluded.run, source = excluded.source",
    )
    .bind(by.principal.to_string())
    .bind(name)
    .bind(number(source.len() as u64))
    .bind(hex(&Sha256::digest(source)))
    .bind(now_ms())
    .bind(by.run.map(ToString::to_string))
    .bind(source)
    .execute(&mut *step)
    .await?;
    Ok(step.commit().await?)
}

pub(crate) async fn all(
    connection: &mut SqliteConnection,
    principal: &Principal,
) -> Result<Vec<SavedTool>, Fault> {
    let rows = sqlx::query(
        "SELECT name, source, sha256, saved_ms, run FROM saved_tools WHERE principal = ? ORDER BY seq",
    )
    .bind(principal.to_string())
    .fetch_all(connection)
    .await?;
    let tools = rows.iter().map(|row| {
        Ok(SavedTool {
            name: row.try_get("name")?,
            source: row.try_get("source")?,
            sha256: row.try_get("sha256")?,
            saved_ms: row.try_get("saved_ms")?,
            run: row.try_get("run")?,
        })
    });
    tools.collect()
}

pub(crate) async fn remove(
    connection: &mut SqliteConnection,
    principal: &Principal,
    name: &str,
) -> Result<bool, Fault> {
    let removed = sqlx::query("DELETE FROM saved_tools WHERE principal = ? AND name = ?")
        .bind(principal.to_string())
        .bind(name)
        .execute(connection)
        .await?;
    Ok(removed.rows_affected() > 0)
}
