//! Postgres: connects, creates the tables, and runs statements so that a pooler may sit in between.

use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection, PgRow};
use sqlx::{ConnectOptions as _, Executor as _};

use super::{Connection, Link, Statement, Tables};
use crate::database::{Database, PostgresDatabase};
use crate::trouble::{Trouble, TroubleKind};

/// Deadline of a connection, including the login.
const CONNECTING: Duration = Duration::from_secs(5);

/// Name of the lock under which one process creates the tables.
const MIGRATING: &str = "codeyard: migrations";

/// Migrations, in order. A migration only adds, so an older codeyard can run at the same time as a newer one. A later
/// version may remove parts in use by older versions; it then raises `oldest` in the table `codeyard`.
const MIGRATIONS: [&str; 14] = [
    include_str!("../../migrations/postgres/0001_everything.sql"),
    include_str!("../../migrations/postgres/0002_accounts.sql"),
    include_str!("../../migrations/postgres/0003_virtual_servers.sql"),
    include_str!("../../migrations/postgres/0004_runs_of_servers.sql"),
    include_str!("../../migrations/postgres/0005_rate_windows.sql"),
    include_str!("../../migrations/postgres/0006_session_leases.sql"),
    include_str!("../../migrations/postgres/0007_audit.sql"),
    include_str!("../../migrations/postgres/0008_upstream_servers.sql"),
    include_str!("../../migrations/postgres/0009_cpu_debts.sql"),
    include_str!("../../migrations/postgres/0010_sinks.sql"),
    include_str!("../../migrations/postgres/0011_executions.sql"),
    include_str!("../../migrations/postgres/0012_recordings.sql"),
    include_str!("../../migrations/postgres/0013_sign_ons.sql"),
    include_str!("../../migrations/postgres/0014_logins.sql"),
];

/// Marks the database as ours. `oldest` is the number of migrations that a program must know to use the database.
const MARK: &str = "CREATE TABLE codeyard (\
    one BIGINT PRIMARY KEY CHECK (one = 1), migrations BIGINT NOT NULL, oldest BIGINT NOT NULL); \
    INSERT INTO codeyard (one, migrations, oldest) VALUES (1, 0, 1)";

#[derive(Debug)]
pub(crate) enum NotReady {
    Kind(TroubleKind),
    Failed(sqlx::Error),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    migrations: i64,
    oldest: i64,
}

impl From<sqlx::Error> for NotReady {
    fn from(error: sqlx::Error) -> Self {
        NotReady::Failed(error)
    }
}

// === impl NotReady ===

impl NotReady {
    pub(super) fn trouble(&self, database: &Database) -> Trouble {
        match self {
            NotReady::Kind(kind) => Trouble::new(database, *kind, ""),
            NotReady::Failed(error) => Trouble::of(database, error),
        }
    }
}

/// Connects without checking the database.
pub(super) async fn connect(place: &PostgresDatabase) -> Result<PgConnection, Trouble> {
    let database = || Database::Postgres(place.clone());
    let options = PgConnectOptions::clone(&place.options).disable_statement_logging();
    match tokio::time::timeout(CONNECTING, options.connect()).await {
        Ok(connected) => connected.map_err(|error| Trouble::of(&database(), &error)),
        Err(_) => {
            let waited = format!("no answer within {} s", CONNECTING.as_secs());
            Err(Trouble::new(&database(), TroubleKind::Unreachable, waited))
        }
    }
}

/// Refuses a database of another program, and a database that a newer codeyard changed. Returns `false` if the
/// database is empty.
pub(super) async fn identify(connection: &mut Connection) -> Result<bool, NotReady> {
    Ok(state(connection).await?.is_some())
}

async fn state(connection: &mut Connection) -> Result<Option<State>, NotReady> {
    let tables = "SELECT count(*) AS tables, coalesce(bool_or(relname = 'codeyard'), false) AS is_ours FROM pg_class \
        WHERE relkind IN ('r', 'p') AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())";
    let row = connection.fetch_one(Statement::new(tables)).await?;
    if !row.get::<bool>("is_ours")? {
        return match row.get::<i64>("tables")? {
            0 => Ok(None),
            _ => Err(NotReady::Kind(TroubleKind::Foreign)),
        };
    }
    let row = connection
        .fetch_one(Statement::new("SELECT migrations, oldest FROM codeyard"))
        .await?;
    let state = State {
        migrations: row.get("migrations")?,
        oldest: row.get("oldest")?,
    };
    if state.oldest > crate::rows::number(MIGRATIONS.len() as u64) {
        return Err(NotReady::Kind(TroubleKind::Newer));
    }
    Ok(Some(state))
}

/// Migrates the tables in one transaction; other processes wait.
pub(super) async fn migrate(connection: &mut Connection) -> Result<(), NotReady> {
    if state(connection).await?.is_some_and(State::is_complete) {
        return Ok(());
    }
    connection.begin_alone(MIGRATING).await?;
    // Read the state again under the lock: another process may have migrated meanwhile.
    let state = state(connection).await?;
    if state.is_none() {
        run_script(connection, MARK).await?;
    }
    let done = state.map_or(0, |state| usize::try_from(state.migrations).unwrap_or_default());
    for (before, script) in MIGRATIONS.iter().enumerate().skip(done) {
        run_script(connection, script).await?;
        let number = crate::rows::number(before as u64 + 1);
        let noted = Statement::new("UPDATE codeyard SET migrations = $1").bind(number);
        connection.execute(noted).await?;
    }
    connection.commit().await?;
    Ok(())
}

impl Tables {
    /// Number of the migration that creates the tables on a server.
    fn migration_of_server(self) -> i64 {
        match self {
            Tables::Saved | Tables::Learned | Tables::Receipts | Tables::Leases => 1,
            Tables::Accounts => 2,
            Tables::VirtualServers => 3,
            Tables::ServerRecords => 4,
            Tables::RateWindows => 5,
            Tables::SessionLeases => 6,
            Tables::Audit => 7,
            Tables::UpstreamServers => 8,
            Tables::CpuDebts => 9,
            Tables::Sinks => 10,
            Tables::Recordings => 12,
            Tables::SignOns => 13,
            Tables::Logins => 14,
        }
    }
}

/// Whether an open database has the tables; the first migration is always there.
pub(super) async fn has(connection: &mut Connection, tables: Tables) -> Result<bool, sqlx::Error> {
    let needed = tables.migration_of_server();
    if needed <= 1 {
        return Ok(true);
    }
    let done: i64 = connection
        .fetch_value(Statement::new("SELECT migrations AS value FROM codeyard"))
        .await?;
    Ok(done >= needed)
}

/// Runs several statements without parameters.
pub(crate) async fn run_script(connection: &mut Connection, script: &'static str) -> Result<(), sqlx::Error> {
    if let Link::Postgres(connection) = &mut connection.link {
        connection.execute(script).await?;
    }
    Ok(())
}

/// Runs a statement in the open transaction.
pub(super) async fn execute(connection: &mut PgConnection, statement: Statement) -> Result<u64, sqlx::Error> {
    Ok(statement
        .for_postgres()?
        .execute(connection)
        .await?
        .rows_affected())
}

/// Runs a statement in its own transaction. A pooler assigns a server connection per transaction,
/// and a statement takes two round trips.
pub(super) async fn execute_alone(
    connection: &mut PgConnection,
    statement: Statement,
) -> Result<u64, sqlx::Error> {
    connection.execute("BEGIN").await?;
    let changed = execute(connection, statement).await?;
    connection.execute("COMMIT").await?;
    Ok(changed)
}

/// The rows of a statement in the open transaction.
pub(super) async fn fetch(
    connection: &mut PgConnection,
    statement: Statement,
) -> Result<Vec<PgRow>, sqlx::Error> {
    statement.for_postgres()?.fetch_all(connection).await
}

/// The rows of a statement in its own transaction.
pub(super) async fn fetch_alone(
    connection: &mut PgConnection,
    statement: Statement,
) -> Result<Vec<PgRow>, sqlx::Error> {
    connection.execute("BEGIN").await?;
    let rows = fetch(connection, statement).await?;
    connection.execute("COMMIT").await?;
    Ok(rows)
}

// === impl State ===

impl State {
    fn is_complete(self) -> bool {
        self.migrations >= crate::rows::number(MIGRATIONS.len() as u64)
    }
}
