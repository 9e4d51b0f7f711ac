//! A row of either database.

use sqlx::postgres::{PgRow, Postgres};
use sqlx::sqlite::{Sqlite, SqliteRow};
use sqlx::{Decode, Row as _, Type};

#[derive(Debug)]
pub(crate) enum SqlRow {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

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
    pub(crate) fn get<T: Field>(&self, column: &str) -> Result<T, sqlx::Error> {
        match self {
            SqlRow::Sqlite(row) => row.try_get(column),
            SqlRow::Postgres(row) => row.try_get(column),
        }
    }

    /// The value of a column that an older codeyard's database may lack.
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
