//! Why the database cannot be written or read, and how to fix it.

use std::fmt;
use std::path::{Path, PathBuf};

use sqlx::migrate::MigrateError;

use crate::database::Database;

/// Why a database cannot be used. The database stays unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// Location of the database.
    pub database: Database,
    pub(crate) kind: TroubleKind,
    /// The error text of the system or database; empty if our text suffices.
    pub(crate) detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TroubleKind {
    Damaged,
    Foreign,
    Newer,
    Locked,
    ReadOnly,
    Full,
    Missing,
    Unreachable,
    Denied,
    /// The server offers no encrypted connection as the URL requires.
    Untrusted,
    /// A transfer has copied only part of another database's records to it.
    HalfFilled,
    Other,
}

// === impl Trouble ===

impl Trouble {
    pub(crate) fn new(database: &Database, kind: TroubleKind, detail: impl fmt::Display) -> Trouble {
        Trouble {
            database: database.clone(),
            kind,
            detail: detail.to_string(),
        }
    }

    pub(crate) fn of(database: &Database, error: &sqlx::Error) -> Trouble {
        let kind = match database {
            Database::Sqlite(_) => kind_in_sqlite(error),
            Database::Postgres(_) => kind_in_postgres(error),
        };
        Trouble::new(database, kind, detail(error))
    }

    pub(crate) fn of_file(file: &Path, kind: TroubleKind, detail: impl fmt::Display) -> Trouble {
        Trouble::new(&Database::Sqlite(PathBuf::from(file)), kind, detail)
    }

    pub(crate) fn of_sqlite(file: &Path, error: &sqlx::Error) -> Trouble {
        Trouble::of_file(file, kind_in_sqlite(error), detail(error))
    }

    pub(crate) fn of_migration(file: &Path, error: &MigrateError) -> Trouble {
        match error {
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => {
                Trouble::of_sqlite(file, error)
            }
            MigrateError::VersionMissing(_) => Trouble::of_file(file, TroubleKind::Newer, ""),
            other => Trouble::of_file(file, TroubleKind::Damaged, other),
        }
    }

    pub(crate) fn of_io(file: &Path, error: &std::io::Error) -> Trouble {
        use std::io::ErrorKind;
        let kind = match error.kind() {
            ErrorKind::NotFound => TroubleKind::Missing,
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => TroubleKind::Full,
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => TroubleKind::ReadOnly,
            _ => TroubleKind::Other,
        };
        Trouble::of_file(file, kind, error)
    }

    /// Whether the error may soon pass: a lock, or a restarting server.
    pub fn is_passing(&self) -> bool {
        matches!(self.kind, TroubleKind::Locked | TroubleKind::Unreachable)
    }

    pub(crate) fn is_locked(&self) -> bool {
        self.kind == TroubleKind::Locked
    }

    pub(crate) fn is_unreachable(&self) -> bool {
        self.kind == TroubleKind::Unreachable
    }

    /// The error, without the remedy.
    pub fn what(&self) -> String {
        let (database, what) = (&self.database, self.brief());
        match self.detail.as_str() {
            "" => format!("the record database {database} {what}"),
            detail => format!("the record database {database} {what} ({detail})"),
        }
    }

    /// The error without the location, for clients that must not see it.
    pub fn brief(&self) -> &'static str {
        match self.kind {
            TroubleKind::Damaged => "is damaged",
            TroubleKind::Foreign => "is not a database of codeyard",
            TroubleKind::Newer => "was written by a newer codeyard",
            TroubleKind::Locked => "is locked by another program",
            TroubleKind::ReadOnly => "cannot be written",
            TroubleKind::Full => "cannot grow: the disk or its quota is full",
            TroubleKind::Missing => "does not exist",
            TroubleKind::Unreachable => "does not answer",
            TroubleKind::Denied => "refuses this user",
            TroubleKind::Untrusted => "offers no encryption that this machine trusts",
            TroubleKind::HalfFilled => "holds a half-finished copy of another database",
            TroubleKind::Other => "cannot be used",
        }
    }

    /// How to fix the error.
    pub fn remedy(&self) -> &'static str {
        match self.database {
            _ if self.kind == TroubleKind::HalfFilled => {
                "run the same `codeyard records move` again to resume the copy"
            }
            Database::Sqlite(_) => self.remedy_of_file(),
            Database::Postgres(_) => self.remedy_of_server(),
        }
    }

    fn remedy_of_file(&self) -> &'static str {
        match self.kind {
            TroubleKind::Damaged => {
                "move it and its -wal and -shm files away to begin a new one; `sqlite3 FILE .recover` may save what it holds"
            }
            TroubleKind::Foreign => "move it away, or name another data directory with --data",
            TroubleKind::Newer => "use that version, or move the database away to begin a new one",
            TroubleKind::Locked => "end the program that locks it (`fuser FILE` names it)",
            TroubleKind::ReadOnly | TroubleKind::Denied => {
                "make the file and its directory writable for this user"
            }
            TroubleKind::Full => "free space on its file system, or lower `keep_size` in [records]",
            TroubleKind::Missing
            | TroubleKind::Unreachable
            | TroubleKind::Untrusted
            | TroubleKind::HalfFilled
            | TroubleKind::Other => {
                "check that its directory exists, on a local file system, and belongs to this user"
            }
        }
    }

    fn remedy_of_server(&self) -> &'static str {
        match self.kind {
            TroubleKind::Damaged => "restore its tables from a backup, or name an empty database",
            TroubleKind::Foreign => {
                "name an empty database, or give codeyard a schema of its own in this one"
            }
            TroubleKind::Newer => "use that version, or name an empty database",
            TroubleKind::Locked => "end the session that holds its tables (pg_stat_activity names it)",
            TroubleKind::ReadOnly => {
                "let its user create tables and write (GRANT ALL ON SCHEMA), on a server that is not a standby"
            }
            TroubleKind::Full => "free space on the server, or lower `keep_for` in [records]",
            TroubleKind::Missing => "create it with `createdb`, or name an existing database",
            TroubleKind::Unreachable => "check that the server runs and that its address and port are right",
            TroubleKind::Denied => "check user and password, and what pg_hba.conf allows",
            TroubleKind::Untrusted => {
                "name the server's certificate authority: `sslrootcert=FILE` in the URL, beside `sslmode`"
            }
            TroubleKind::HalfFilled | TroubleKind::Other => "see the server's log",
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what(), self.remedy())
    }
}

impl std::error::Error for Trouble {}

/// Reads SQLite's primary result code.
fn kind_in_sqlite(error: &sqlx::Error) -> TroubleKind {
    let sqlx::Error::Database(database) = error else {
        return kind_by_form(error);
    };
    let code = database.code().and_then(|code| code.parse::<i32>().ok());
    match code.map(|code| code & 0xff) {
        Some(11 | 26) => TroubleKind::Damaged,
        Some(5 | 6) => TroubleKind::Locked,
        Some(3 | 8 | 23) => TroubleKind::ReadOnly,
        Some(13) => TroubleKind::Full,
        // The statement does not match the tables: a person changed the tables.
        Some(1) => TroubleKind::Damaged,
        _ => TroubleKind::Other,
    }
}

/// Reads Postgres's SQLSTATE; its first two characters are a class.
fn kind_in_postgres(error: &sqlx::Error) -> TroubleKind {
    let sqlx::Error::Database(database) = error else {
        return kind_by_form(error);
    };
    let code = database.code().unwrap_or_default();
    match &*code {
        "53100" | "53200" => TroubleKind::Full,
        "42501" | "25006" => TroubleKind::ReadOnly,
        "3D000" | "3F000" => TroubleKind::Missing,
        "55P03" | "40001" | "40P01" => TroubleKind::Locked,
        // The statement does not match the tables: a person changed the tables.
        "42P01" | "42703" | "42P10" => TroubleKind::Damaged,
        _ => match code.get(..2) {
            Some("08" | "53" | "57" | "58") => TroubleKind::Unreachable,
            Some("28") => TroubleKind::Denied,
            Some("XX") => TroubleKind::Damaged,
            _ => TroubleKind::Other,
        },
    }
}

fn kind_by_form(error: &sqlx::Error) -> TroubleKind {
    match error {
        sqlx::Error::ColumnNotFound(_) | sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => {
            TroubleKind::Damaged
        }
        sqlx::Error::Tls(_) => TroubleKind::Untrusted,
        // The certificate is not accepted.
        sqlx::Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => TroubleKind::Untrusted,
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) => TroubleKind::Unreachable,
        _ => TroubleKind::Other,
    }
}

fn detail(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        other => other.to_string(),
    }
}
