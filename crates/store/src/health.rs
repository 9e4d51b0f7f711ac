//! Looks at the whole database, for `codeyard doctor`.

use sqlx::{Connection as _, Row as _, SqliteConnection};

use crate::config::RecordsConfig;
use crate::database::{self, Purpose};
use crate::trouble::{Trouble, TroubleKind};

/// The database at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Health {
    /// Runs in it.
    pub runs: i64,
    /// Bytes that it takes.
    pub bytes: i64,
}

/// Reads all of the database, so that damage is found, and sees whether it can be written; `None` if nothing has been
/// recorded yet.
pub async fn examine(config: &RecordsConfig) -> Result<Option<Health>, Trouble> {
    let file = &config.file;
    if database::open_to_read(file).await?.is_none() {
        return Ok(None);
    }
    let mut connection = database::open(file, Purpose::Write).await?;
    let found = look(&mut connection).await;
    let (verdict, health) = found.map_err(|error| Trouble::of(file, &error))?;
    // Nothing was changed that closing could fail to save.
    let _ = connection.close().await;
    match verdict.as_str() {
        "ok" => Ok(Some(health)),
        damage => Err(Trouble::new(
            file,
            TroubleKind::Damaged,
            damage.lines().next().unwrap_or_default(),
        )),
    }
}

async fn look(connection: &mut SqliteConnection) -> Result<(String, Health), sqlx::Error> {
    let verdict = sqlx::query_scalar("PRAGMA quick_check(1)")
        .fetch_one(&mut *connection)
        .await?;
    let row = sqlx::query(
        "SELECT (SELECT count(*) FROM runs) AS runs, page_count * page_size AS bytes \
         FROM pragma_page_count, pragma_page_size",
    )
    .fetch_one(connection)
    .await?;
    let health = Health {
        runs: row.try_get("runs")?,
        bytes: row.try_get("bytes")?,
    };
    Ok((verdict, health))
}
