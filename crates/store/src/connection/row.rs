//! A row of either database.

use sqlx::postgres::{PgRow, Postgres};
use sqlx::sqlite::{Sqlite, SqliteRow};
use sqlx::{Decode, Row as _, Type};

/// What a statement returned.
#[derive(Debug)]
pub(crate) enum SqlRow {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// What a column can hold.
pub(crate) trait Field:
    for<'r> Decode<'r, Sqlite> + Type<Sqlite> + for<'r> Decode<'r, Postgres> + Type<Postgres>
{
}

impl<T> Field for T where
    T: for<'r> Decode<'r, Sqlite> + Type<Sqlite> + for<'r> Decode<'r, Postgres> + Type<Postgres>
{
}

// === impl SqlRow ===

impl SqlRow {
    /// The value of a column.
    pub(crate) fn get<T: Field>(&self, column: &str) -> Result<T, sqlx::Error> {
        match self {
            SqlRow::Sqlite(row) => row.try_get(column),
            SqlRow::Postgres(row) => row.try_get(column),
        }
    }

    /// The value of a column that a database of an older codeyard does not have.
    pub(crate) fn get_if_there<T>(&self, column: &str) -> Result<Option<T>, sqlx::Error>
    where
        Option<T>: Field,
    {
        match self.get(column) {
            Err(sqlx::Error::ColumnNotFound(_)) => Ok(None),
            found => found,
        }
    }
}
