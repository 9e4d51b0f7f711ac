//! Checks the whole database, for `codeyard doctor`.

use crate::config::RecordsConfig;
use crate::connection::{Connection, Purpose, Statement};
use crate::trouble::{Trouble, TroubleKind};

/// The state of the database at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Health {
    /// Recorded runs.
    pub runs: i64,
    /// Bytes in use.
    pub bytes: i64,
}

/// Reads a whole file to find damage, and tests whether the database is writable. `None` if nothing has been recorded
/// yet.
pub async fn examine(config: &RecordsConfig) -> Result<Option<Health>, Trouble> {
    let database = &config.database;
    let Some(connection) = Connection::open_to_read(database).await? else {
        return Ok(None);
    };
    connection.close().await;
    let mut connection = Connection::open(database, Purpose::Write).await?;
    let found = look(&mut connection).await;
    let (verdict, health) = found.map_err(|error| Trouble::of(database, &error))?;
    connection.close().await;
    match verdict.as_str() {
        "ok" => Ok(Some(health)),
        damage => Err(Trouble::new(
            database,
            TroubleKind::Damaged,
            damage.lines().next().unwrap_or_default(),
        )),
    }
}

async fn look(connection: &mut Connection) -> Result<(String, Health), sqlx::Error> {
    let (verdict, bytes) = match connection.is_postgres() {
        // A server checks its own files. A no-op update proves write access.
        true => {
            let touched = Statement::new("UPDATE codeyard SET migrations = migrations");
            connection.execute(touched).await?;
            let bytes = "SELECT CAST(coalesce(sum(pg_total_relation_size(oid)), 0) AS BIGINT) AS value FROM pg_class \
                 WHERE relkind = 'r' AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())";
            ("ok".to_owned(), bytes)
        }
        false => {
            let check = Statement::new("SELECT quick_check AS value FROM pragma_quick_check");
            let bytes = "SELECT page_count * page_size AS value FROM pragma_page_count, pragma_page_size";
            (connection.fetch_value(check).await?, bytes)
        }
    };
    let health = Health {
        runs: connection
            .fetch_value(Statement::new("SELECT count(*) AS value FROM runs"))
            .await?,
        bytes: connection.fetch_value(Statement::new(bytes)).await?,
    };
    Ok((verdict, health))
}
