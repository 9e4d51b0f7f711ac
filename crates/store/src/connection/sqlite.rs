//! Opens an SQLite database: creates a missing database, migrates an older database, and refuses a database of
//! another program.

use std::borrow::Cow;
use std::fs::{self, DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteAutoVacuum, SqliteConnectOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, SqlSafeStr as _, SqliteConnection};

use super::{Purpose, Tables};
use crate::trouble::{Trouble, TroubleKind};

/// `application_id` of our databases: "cdyd".
const APPLICATION: i64 = 0x6364_7964;
/// Longest wait for a lock that another process holds.
const PATIENCE: Duration = Duration::from_secs(2);
/// Attempts to switch a new database to a write-ahead journal while another process does the same.
const ATTEMPTS: u32 = 20;

/// Opens the database for writing, creating and migrating it first.
pub(super) async fn open(file: &Path, purpose: Purpose) -> Result<SqliteConnection, Trouble> {
    make(file).map_err(|error| Trouble::of_io(file, &error))?;
    let trouble = |error: sqlx::Error| Trouble::of_sqlite(file, &error);
    let mut connection = options(file, purpose).connect().await.map_err(trouble)?;
    identify(file, &mut connection).await?;
    journal(&mut connection).await.map_err(trouble)?;
    migrate(file, &mut connection).await?;
    Ok(connection)
}

/// Opens the database for reading; `None` if nothing has been recorded yet.
pub(super) async fn open_to_read(file: &Path) -> Result<Option<SqliteConnection>, Trouble> {
    match fs::metadata(file) {
        Ok(metadata) if metadata.len() > 0 => {}
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Trouble::of_io(file, &error)),
    }
    let trouble = |error: sqlx::Error| Trouble::of_sqlite(file, &error);
    let mut connection = options(file, Purpose::Read).connect().await.map_err(trouble)?;
    if !identify(file, &mut connection).await? {
        return Ok(None);
    }
    let newest = sqlx::query_scalar::<_, Option<i64>>("SELECT max(version) FROM _sqlx_migrations")
        .fetch_one(&mut connection)
        .await
        .map_err(trouble)?;
    let known = migrations().iter().map(|migration| migration.version).max();
    if newest > known {
        return Err(Trouble::of_file(file, TroubleKind::Newer, ""));
    }
    Ok(Some(connection))
}

/// Creates a missing file with mode 0600 in a directory with mode 0700.
fn make(file: &Path) -> std::io::Result<()> {
    if let Some(directory) = file.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file);
    match made {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

fn options(file: &Path, purpose: Purpose) -> SqliteConnectOptions {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .foreign_keys(true)
        .busy_timeout(PATIENCE)
        .thread_name(|_| "records".to_owned())
        .disable_statement_logging();
    match purpose {
        Purpose::Read => options.read_only(true),
        Purpose::Write | Purpose::Transfer => options.synchronous(SqliteSynchronous::Normal),
        Purpose::WriteDurably => options.synchronous(SqliteSynchronous::Full),
    }
}

/// Refuses a database of another program; returns `false` if the database is empty.
async fn identify(file: &Path, connection: &mut SqliteConnection) -> Result<bool, Trouble> {
    let trouble = |error: sqlx::Error| Trouble::of_sqlite(file, &error);
    // Read the tables first. One transaction writes tables and application id, so tables without our id belong to
    // another program.
    let tables: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema")
        .fetch_one(&mut *connection)
        .await
        .map_err(trouble)?;
    let application: i64 = sqlx::query_scalar("PRAGMA application_id")
        .fetch_one(&mut *connection)
        .await
        .map_err(trouble)?;
    if tables > 0 && application != APPLICATION {
        return Err(Trouble::of_file(file, TroubleKind::Foreign, ""));
    }
    Ok(tables > 0)
}

/// Switches a new database to a write-ahead journal, so that readers and the writer do not block each other.
async fn journal(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let vacuum: i64 = sqlx::query_scalar("PRAGMA auto_vacuum")
        .fetch_one(&mut *connection)
        .await?;
    if vacuum != SqliteAutoVacuum::Incremental as i64 {
        // SQLite accepts this setting only before the first table exists.
        sqlx::query("PRAGMA auto_vacuum = INCREMENTAL")
            .execute(&mut *connection)
            .await?;
    }
    for attempt in 1.. {
        let turned = sqlx::query("PRAGMA journal_mode = WAL")
            .execute(&mut *connection)
            .await;
        match turned {
            Err(error) if attempt < ATTEMPTS && is_locked(&error) => {
                tokio::time::sleep(PATIENCE / ATTEMPTS).await;
            }
            turned => {
                turned?;
                break;
            }
        }
    }
    // Truncate the journal after a burst of writes.
    sqlx::query("PRAGMA journal_size_limit = 4194304")
        .execute(&mut *connection)
        .await?;
    Ok(())
}

fn is_locked(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.and_then(|code| code.parse::<i32>().ok())
        .is_some_and(|code| code & 0xff == 5)
}

/// Migrates the tables in one transaction; other processes wait.
async fn migrate(file: &Path, connection: &mut SqliteConnection) -> Result<(), Trouble> {
    let trouble = |error: sqlx::Error| Trouble::of_sqlite(file, &error);
    let mut step = connection.begin_with("BEGIN IMMEDIATE").await.map_err(trouble)?;
    Migrator::with_migrations(migrations())
        .run_direct(None, &mut *step, false)
        .await
        .map_err(|error| Trouble::of_migration(file, &error))?;
    sqlx::query("PRAGMA application_id = 1667529060")
        .execute(&mut *step)
        .await
        .map_err(trouble)?;
    step.commit().await.map_err(trouble)
}

impl Tables {
    /// Number of the migration that creates the tables.
    fn migration(self) -> i64 {
        match self {
            Tables::Saved => 2,
            Tables::Learned => 3,
            Tables::Receipts => 4,
            Tables::Leases => 8,
            Tables::Accounts => 9,
            Tables::VirtualServers => 10,
            Tables::ServerRecords => 11,
            Tables::RateWindows => 12,
            Tables::SessionLeases => 13,
            Tables::Audit => 14,
            Tables::UpstreamServers => 15,
            Tables::CpuDebts => 16,
            Tables::Sinks => 17,
            Tables::Recordings => 19,
            Tables::SignOns => 20,
            Tables::Logins => 21,
        }
    }
}

fn migrations() -> Vec<Migration> {
    let simple = |version, name, sql: &'static str| {
        Migration::new(
            version,
            Cow::Borrowed(name),
            MigrationType::Simple,
            sql.into_sql_str(),
            false,
        )
    };
    vec![
        simple(
            1,
            "records",
            include_str!("../../migrations/sqlite/0001_records.sql"),
        ),
        simple(
            Tables::Saved.migration(),
            "saved",
            include_str!("../../migrations/sqlite/0002_saved.sql"),
        ),
        simple(
            Tables::Learned.migration(),
            "learned",
            include_str!("../../migrations/sqlite/0003_learned.sql"),
        ),
        simple(
            Tables::Receipts.migration(),
            "receipts",
            include_str!("../../migrations/sqlite/0004_receipts.sql"),
        ),
        simple(5, "times", include_str!("../../migrations/sqlite/0005_times.sql")),
        simple(
            6,
            "own receipts",
            include_str!("../../migrations/sqlite/0006_own_receipts.sql"),
        ),
        simple(
            7,
            "earlier threads",
            include_str!("../../migrations/sqlite/0007_earlier_threads.sql"),
        ),
        simple(
            Tables::Leases.migration(),
            "leases",
            include_str!("../../migrations/sqlite/0008_leases.sql"),
        ),
        simple(
            Tables::Accounts.migration(),
            "accounts",
            include_str!("../../migrations/sqlite/0009_accounts.sql"),
        ),
        simple(
            Tables::VirtualServers.migration(),
            "virtual servers",
            include_str!("../../migrations/sqlite/0010_virtual_servers.sql"),
        ),
        simple(
            Tables::ServerRecords.migration(),
            "runs of servers",
            include_str!("../../migrations/sqlite/0011_runs_of_servers.sql"),
        ),
        simple(
            Tables::RateWindows.migration(),
            "rate windows",
            include_str!("../../migrations/sqlite/0012_rate_windows.sql"),
        ),
        simple(
            Tables::SessionLeases.migration(),
            "session leases",
            include_str!("../../migrations/sqlite/0013_session_leases.sql"),
        ),
        simple(
            Tables::Audit.migration(),
            "audit",
            include_str!("../../migrations/sqlite/0014_audit.sql"),
        ),
        simple(
            Tables::UpstreamServers.migration(),
            "upstream servers",
            include_str!("../../migrations/sqlite/0015_upstream_servers.sql"),
        ),
        simple(
            Tables::CpuDebts.migration(),
            "cpu debts",
            include_str!("../../migrations/sqlite/0016_cpu_debts.sql"),
        ),
        simple(
            Tables::Sinks.migration(),
            "sinks",
            include_str!("../../migrations/sqlite/0017_sinks.sql"),
        ),
        simple(
            18,
            "executions",
            include_str!("../../migrations/sqlite/0018_executions.sql"),
        ),
        simple(
            Tables::Recordings.migration(),
            "recordings",
            include_str!("../../migrations/sqlite/0019_recordings.sql"),
        ),
        simple(
            Tables::SignOns.migration(),
            "sign-ons",
            include_str!("../../migrations/sqlite/0020_sign_ons.sql"),
        ),
        simple(
            Tables::Logins.migration(),
            "logins",
            include_str!("../../migrations/sqlite/0021_logins.sql"),
        ),
    ]
}

pub(super) async fn has(connection: &mut SqliteConnection, tables: Tables) -> Result<bool, sqlx::Error> {
    let newest: Option<i64> = sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations")
        .fetch_one(connection)
        .await?;
    Ok(newest >= Some(tables.migration()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_application_is_written_as_it_is_read() {
        assert_eq!(super::APPLICATION, 1_667_529_060);
    }
}
