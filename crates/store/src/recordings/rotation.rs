//! Recordings by the key that encrypted them.

use types::RunId;

use super::{KEY_CHARACTERS, PAGE, SealedRecording, principal};
use crate::connection::{Connection, Statement};

/// Recordings that a start examines: enough for those of every process in use.
const NEWEST: usize = 100;

pub(super) async fn of_other_keys(
    connection: &mut Connection,
    key: &str,
    after: Option<&RunId>,
) -> Result<Vec<SealedRecording>, sqlx::Error> {
    let sql = format!(
        "SELECT runs.id, runs.principal, recordings.sealed FROM recordings JOIN runs ON runs.id = recordings.run \
         WHERE recordings.run > $1 AND substr(recordings.sealed, 1, {KEY_CHARACTERS}) <> $2 \
         ORDER BY recordings.run LIMIT {PAGE}"
    );
    let asked = Statement::new(sql)
        .bind(after.map_or("", RunId::as_str))
        .bind(key);
    let rows = connection.fetch_all(asked).await?;
    rows.iter()
        .map(|row| {
            Ok(SealedRecording {
                run: RunId::new(row.get::<String>("id")?),
                principal: principal(row)?,
                sealed: row.get("sealed")?,
            })
        })
        .collect()
}

pub(super) async fn replace(
    connection: &mut Connection,
    old: &SealedRecording,
    sealed: &str,
) -> Result<bool, sqlx::Error> {
    let sql = "UPDATE recordings SET sealed = $3 WHERE run = $1 AND sealed = $2";
    let update = Statement::new(sql)
        .bind(old.run.as_str())
        .bind(old.sealed.as_str())
        .bind(sealed);
    Ok(connection.execute(update).await? > 0)
}

pub(super) async fn keys_of_newest(connection: &mut Connection) -> Result<Vec<String>, sqlx::Error> {
    let sql = format!(
        "SELECT DISTINCT substr(sealed, 1, {KEY_CHARACTERS}) AS value \
         FROM (SELECT sealed FROM recordings ORDER BY asked_ms DESC LIMIT {NEWEST}) AS newest"
    );
    let rows = connection.fetch_all(Statement::new(sql)).await?;
    rows.iter().map(|row| row.get("value")).collect()
}

pub(super) async fn keys_in_use(connection: &mut Connection) -> Result<Vec<String>, sqlx::Error> {
    let sql = format!("SELECT DISTINCT substr(sealed, 1, {KEY_CHARACTERS}) AS value FROM recordings");
    let rows = connection.fetch_all(Statement::new(sql)).await?;
    rows.iter().map(|row| row.get("value")).collect()
}
