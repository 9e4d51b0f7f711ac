//! Identifies the database: an SQLite file or a database on a Postgres server.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use sqlx::postgres::PgConnectOptions;
use url::Url;

/// Location of a database. Displayed without the password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Database {
    /// A file, created on first use.
    Sqlite(PathBuf),
    /// An existing database of a server; its tables are created on first use.
    Postgres(PostgresDatabase),
}

/// Address and login of a Postgres database.
#[derive(Clone)]
pub struct PostgresDatabase {
    pub(crate) options: Arc<PgConnectOptions>,
    /// The URL without the password, for messages.
    shown: Arc<str>,
}

/// An invalid database URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DatabaseUrlError(String);

// === impl Database ===

impl Database {
    /// The file of an SQLite database.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Database::Sqlite(file) => Some(file),
            Database::Postgres(_) => None,
        }
    }

    fn postgres(url: &Url) -> Result<PostgresDatabase, DatabaseUrlError> {
        let mut shown = url.clone();
        if shown.password().is_some() {
            // A URL with a host accepts any password, even none.
            let _ = shown.set_password(None);
        }
        // Parameters may hold secrets, such as the password of a key file.
        shown.set_query(None);
        if url.path().trim_matches('/').is_empty() {
            return Err(DatabaseUrlError(format!(
                "{shown} lacks the name of a database; write postgres://USER@HOST/DATABASE"
            )));
        }
        let options = PgConnectOptions::from_str(url.as_str())
            .map_err(|error| DatabaseUrlError(format!("{shown} is not a Postgres URL: {error}")))?
            // A pooler shares connections between clients, so prepared statements and settings do not persist.
            .statement_cache_capacity(0)
            .extra_float_digits(None)
            .application_name("codeyard");
        Ok(PostgresDatabase {
            options: Arc::new(options),
            shown: shown.as_str().into(),
        })
    }
}

impl FromStr for Database {
    type Err = DatabaseUrlError;

    /// Reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE` (also `postgresql://`) and `sqlite:FILE`.
    fn from_str(text: &str) -> Result<Database, DatabaseUrlError> {
        // Do not repeat the text, because it may contain a password in an unexpected place.
        let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
        match scheme {
            "sqlite" => match text["sqlite:".len()..].trim_start_matches("//") {
                "" => Err(DatabaseUrlError(
                    "sqlite: lacks a file; write sqlite:FILE".to_owned(),
                )),
                file => Ok(Database::Sqlite(PathBuf::from(file))),
            },
            "postgres" | "postgresql" => {
                let url = Url::parse(text)
                    .map_err(|error| DatabaseUrlError(format!("the {scheme} URL cannot be read: {error}")))?;
                Database::postgres(&url).map(Database::Postgres)
            }
            _ => Err(DatabaseUrlError(
                "expected the URL of a database: postgres://USER@HOST/DATABASE or sqlite:FILE".to_owned(),
            )),
        }
    }
}

impl From<PathBuf> for Database {
    fn from(file: PathBuf) -> Database {
        Database::Sqlite(file)
    }
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Database::Sqlite(file) => write!(f, "{}", file.display()),
            Database::Postgres(postgres) => f.write_str(&postgres.shown),
        }
    }
}

// === impl PostgresDatabase ===

impl PartialEq for PostgresDatabase {
    fn eq(&self, other: &Self) -> bool {
        self.shown == other.shown
    }
}

impl Eq for PostgresDatabase {}

impl fmt::Debug for PostgresDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresDatabase({})", self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read_and_shown_without_secrets() {
        let check = |text: &str, shown: &str| {
            let read = match text.parse::<Database>() {
                Ok(database) => format!("{database} {database:?}"),
                Err(error) => error.to_string(),
            };
            assert!(read.contains(shown), "{text}: {read}");
            assert!(!read.contains("secret"), "{read}");
        };
        check(
            "postgres://ann:secret@example.com:5433/yard",
            "postgres://ann@example.com:5433/yard",
        );
        check(
            "postgresql://ann@example.com/yard?sslmode=require&password=secret",
            "postgresql://ann@example.com/yard",
        );
        check(
            "postgres://ann:secret@example.com",
            "lacks the name of a database",
        );
        check("postgres://ann:secret@example.com:port/yard", "invalid port");
        check("sqlite:/tmp/a.db", "/tmp/a.db");
        check("sqlite:///tmp/a.db", "/tmp/a.db");
        check("sqlite:", "lacks a file");
        check(
            "mysql://ann:secret@example.com/yard",
            "expected the URL of a database",
        );
        check("secret", "expected the URL of a database");
    }
}
