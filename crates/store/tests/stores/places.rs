//! Every kind of store: an SQLite file, a Postgres database, and a Postgres database behind a pooler.

use std::path::Path;
use std::sync::LazyLock;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};
use store::Database;
use store::audit::AuditActor;
use tempfile::TempDir;
use test_support::{Pooler, PostgresServer};

/// An actor for tests that do not read the audit table.
pub fn actor() -> &'static AuditActor {
    static ACTOR: LazyLock<AuditActor> = LazyLock::new(AuditActor::command_line);
    &ACTOR
}

pub struct Place {
    pub database: Database,
    kept: PlaceGuard,
}

/// Deleted or stopped after the last use of the place.
enum PlaceGuard {
    Directory(TempDir),
    Server(PostgresServer),
    Behind(Pooler, PostgresServer),
}

impl Place {
    pub fn file() -> Place {
        let directory = tempfile::tempdir().expect("a directory");
        Place {
            database: directory.path().join("data").join(store::FILE).into(),
            kept: PlaceGuard::Directory(directory),
        }
    }

    pub fn postgres() -> Place {
        let server = PostgresServer::start().expect("a server");
        let url = server.make("yard").expect("a database");
        Place {
            database: url.parse().expect("a URL"),
            kept: PlaceGuard::Server(server),
        }
    }

    pub fn behind_a_pooler() -> Place {
        let server = PostgresServer::start().expect("a server");
        server.make("yard").expect("a database");
        let pooler = server.pooler().expect("a pooler");
        Place {
            database: pooler.url("yard").parse().expect("a URL"),
            kept: PlaceGuard::Behind(pooler, server),
        }
    }

    /// Another empty database on the same server, or another directory.
    pub fn anew(&self, name: &str) -> Database {
        match &self.kept {
            PlaceGuard::Directory(directory) => directory.path().join(name).join(store::FILE).into(),
            PlaceGuard::Server(server) => server.make(name).expect("a database").parse().expect("a URL"),
            PlaceGuard::Behind(pooler, server) => {
                server.make(name).expect("a database");
                pooler.url(name).parse().expect("a URL")
            }
        }
    }

    /// Runs SQL on the server without the store; returns the answer.
    pub fn ask(&self, sql: &str) -> String {
        match &self.kept {
            PlaceGuard::Directory(_) => panic!("a file has no server"),
            PlaceGuard::Server(server) | PlaceGuard::Behind(_, server) => {
                server.psql("yard", sql).expect("an answer")
            }
        }
    }

    /// The number that a query without the store returns.
    pub async fn number(&self, sql: &str) -> i64 {
        match (&self.kept, &self.database) {
            (PlaceGuard::Directory(_), Database::Sqlite(file)) => {
                let sql = sqlx::query_scalar(AssertSqlSafe(sql.to_owned()));
                sql.fetch_one(&mut open(file).await).await.expect("a number")
            }
            _ => self.ask(sql).trim().parse().expect("a number"),
        }
    }

    /// Runs SQL without the store.
    pub async fn change(&self, sql: &str) {
        match (&self.kept, &self.database) {
            (PlaceGuard::Directory(_), Database::Sqlite(file)) => change_file(file, sql).await,
            (PlaceGuard::Server(_) | PlaceGuard::Behind(..), _) => drop(self.ask(sql)),
            (PlaceGuard::Directory(_), Database::Postgres(_)) => unreachable!("a directory holds files"),
        }
    }
}

async fn change_file(file: &Path, sql: &str) {
    let mut connection = open(file).await;
    let sql = AssertSqlSafe(sql.to_owned());
    sqlx::query(sql).execute(&mut connection).await.expect("changed");
    connection.close().await.expect("closed");
}

async fn open(file: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(file);
    options.connect().await.expect("a database")
}

/// Runs the check in every kind of store.
pub async fn in_each(check: impl AsyncFn(&Place)) {
    for place in [Place::file(), Place::postgres(), Place::behind_a_pooler()] {
        check(&place).await;
    }
}
