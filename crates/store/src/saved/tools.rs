//! Rows of saved functions.

use sha2::{Digest as _, Sha256};
use types::{Principal, RunId};

use super::room::{self, SavedKind};
use super::values::{SavedBy, SavedTool};
use crate::arguments::hex;
use crate::clock::now_ms;
use crate::connection::{Connection, Statement};
use crate::rows::number;
use crate::saved_error::Fault;

pub(crate) async fn save(
    connection: &mut Connection,
    by: SavedBy<'_>,
    name: &str,
    source: &str,
) -> Result<(), Fault> {
    room::begin(connection, by.principal).await?;
    let asked = Statement::new("SELECT bytes FROM saved_tools WHERE principal = $1 AND name = $2")
        .bind(by.principal.to_string())
        .bind(name);
    let replaced = connection.fetch_optional(asked).await?;
    let replaced = replaced.map(|row| row.get("bytes")).transpose()?;
    room::check(connection, by.principal, SavedKind::Tool, source.len(), replaced).await?;
    let sql = "INSERT INTO saved_tools (principal, name, bytes, sha256, saved_ms, run, source) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) \
         ON CONFLICT (principal, name) DO UPDATE SET bytes = excluded.bytes, sha256 = excluded.sha256, \
         saved_ms = excluded.saved_ms, run = excluded.run, source = excluded.source";
    let statement = Statement::new(sql)
        .bind(by.principal.to_string())
        .bind(name)
        .bind(number(source.len() as u64))
        .bind(hex(&Sha256::digest(source)))
        .bind(now_ms())
        .bind(by.run.map(RunId::as_str))
        .bind(source);
    connection.execute(statement).await?;
    Ok(connection.commit().await?)
}

pub(crate) async fn all(connection: &mut Connection, principal: &Principal) -> Result<Vec<SavedTool>, Fault> {
    let sql = "SELECT name, source, sha256, saved_ms, run FROM saved_tools WHERE principal = $1 ORDER BY seq";
    let rows = connection
        .fetch_all(Statement::new(sql).bind(principal.to_string()))
        .await?;
    let tools = rows.iter().map(|row| {
        Ok(SavedTool {
            name: row.get("name")?,
            source: row.get("source")?,
            sha256: row.get("sha256")?,
            saved_ms: row.get("saved_ms")?,
            run: row.get("run")?,
        })
    });
    tools.collect()
}

pub(crate) async fn remove(
    connection: &mut Connection,
    principal: &Principal,
    name: &str,
) -> Result<bool, Fault> {
    let statement = Statement::new("DELETE FROM saved_tools WHERE principal = $1 AND name = $2")
        .bind(principal.to_string())
        .bind(name);
    Ok(connection.execute(statement).await? > 0)
}
