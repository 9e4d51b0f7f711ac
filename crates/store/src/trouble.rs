//! Why nothing can be recorded or read, with what to do.

use std::fmt;
use std::path::{Path, PathBuf};

use sqlx::migrate::MigrateError;

/// A database that cannot be used as it is. It is left as it is, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The database.
    pub file: PathBuf,
    /// What is the matter.
    pub(crate) kind: TroubleKind,
    /// The system's or the database's own words; empty where ours say everything.
    pub(crate) detail: String,
}

/// What is the matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TroubleKind {
    Damaged,
    Foreign,
    Newer,
    Locked,
    ReadOnly,
    Full,
    Missing,
    Other,
}

// === impl Trouble ===

impl Trouble {
    pub(crate) fn new(file: &Path, kind: TroubleKind, detail: impl fmt::Display) -> Trouble {
        Trouble {
            file: file.to_path_buf(),
            kind,
            detail: detail.to_string(),
        }
    }

    pub(crate) fn of(file: &Path, error: &sqlx::Error) -> Trouble {
        Trouble::new(file, kind(error), detail(error))
    }

    pub(crate) fn of_migration(file: &Path, error: &MigrateError) -> Trouble {
        match error {
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => {
                Trouble::of(file, error)
            }
            MigrateError::VersionMissing(_) => Trouble::new(file, TroubleKind::Newer, ""),
            other => Trouble::new(file, TroubleKind::Damaged, other),
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
        Trouble::new(file, kind, error)
    }

    /// Whether somebody else is writing, who may soon be done.
    pub fn is_locked(&self) -> bool {
        self.kind == TroubleKind::Locked
    }

    /// What is the matter, without what to do.
    pub fn what(&self) -> String {
        let (file, what) = (self.file.display(), self.brief());
        match self.detail.as_str() {
            "" => format!("the record database {file} {what}"),
            detail => format!("the record database {file} {what} ({detail})"),
        }
    }

    /// What is the matter, without the place: for those whom it does not concern.
    pub fn brief(&self) -> &'static str {
        match self.kind {
            TroubleKind::Damaged => "is damaged",
            TroubleKind::Foreign => "is no database of codeyard",
            TroubleKind::Newer => "was written by a newer codeyard",
            TroubleKind::Locked => "is locked by another program",
            TroubleKind::ReadOnly => "cannot be written",
            TroubleKind::Full => "cannot grow: the disk or its quota is full",
            TroubleKind::Missing => "is not there",
            TroubleKind::Other => "cannot be used",
        }
    }

    /// What to do.
    pub fn remedy(&self) -> &'static str {
        match self.kind {
            TroubleKind::Damaged => {
                "move it and its -wal and -shm files away to begin a new one; `sqlite3 FILE .recover` may save what it holds"
            }
            TroubleKind::Foreign => "move it away, or name another data directory with --data",
            TroubleKind::Newer => "use that version, or move the database away to begin a new one",
            TroubleKind::Locked => "end the program that locks it (`fuser FILE` names it)",
            TroubleKind::ReadOnly => "make the file and its directory writable for this user",
            TroubleKind::Full => "free space on its file system, or lower `keep_size` in [records]",
            TroubleKind::Missing | TroubleKind::Other => {
                "see that its directory is there, on a local file system, and belongs to this user"
            }
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what(), self.remedy())
    }
}

impl std::error::Error for Trouble {}

/// Primary result codes of SQLite.
fn kind(error: &sqlx::Error) -> TroubleKind {
    match error {
        sqlx::Error::Database(error) => {
            let code = error.code().and_then(|code| code.parse::<i32>().ok());
            match code.map(|code| code & 0xff) {
                Some(11 | 26) => TroubleKind::Damaged,
                Some(5 | 6) => TroubleKind::Locked,
                Some(3 | 8 | 23) => TroubleKind::ReadOnly,
                Some(13) => TroubleKind::Full,
                // A statement that does not fit the tables: somebody changed them.
                Some(1) => TroubleKind::Damaged,
                _ => TroubleKind::Other,
            }
        }
        sqlx::Error::ColumnNotFound(_) | sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => {
            TroubleKind::Damaged
        }
        _ => TroubleKind::Other,
    }
}

fn detail(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        other => other.to_string(),
    }
}
