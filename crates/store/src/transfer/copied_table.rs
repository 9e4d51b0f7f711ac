//! How a table's rows are read, a page at a time, and what a row means.

use crate::connection::{Connection, SqlRow, Statement, Value};

/// Rows of a page; tables with large rows have fewer.
pub(super) const PAGE: i64 = 500;
pub(super) const PAGE_OF_LARGE_ROWS: i64 = 16;

#[derive(Debug)]
pub(super) struct CopiedTable {
    pub(super) name: &'static str,
    pub(super) columns: &'static [Column],
    /// Unique key, in the order of an index: first of SQLite, then of Postgres.
    pub(super) key: [&'static [&'static str]; 2],
    /// The column by which Postgres partitions the table; `None` without partitions.
    pub(super) time: Option<&'static str>,
    /// The column that the database fills with numbers; `None` if no such column exists.
    pub(super) numbered: Option<&'static str>,
    /// Selects the rows to copy, because Postgres may still have rows of a removed run.
    pub(super) condition: &'static str,
    pub(super) page: i64,
}

#[derive(Debug)]
pub(super) enum Column {
    Number(&'static str),
    Text(&'static str),
}

/// A table without partitions and numbers, all of whose rows are copied.
pub(super) const PLAIN: CopiedTable = CopiedTable {
    name: "",
    columns: &[],
    key: [&[], &[]],
    time: None,
    numbered: None,
    condition: "1 = 1",
    page: PAGE,
};

// === impl CopiedTable ===

impl CopiedTable {
    pub(super) fn columns(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(Column::name).collect();
        names.join(", ")
    }

    fn key(&self, connection: &Connection) -> &'static [&'static str] {
        self.key[usize::from(connection.is_postgres())]
    }

    /// The rows after this key; an empty key starts at the first row.
    pub(super) async fn page(
        &self,
        connection: &mut Connection,
        after: &[Value],
    ) -> Result<Vec<Vec<Value>>, sqlx::Error> {
        let key = self.key(connection).join(", ");
        let mut statement = Statement::new(format!(
            "SELECT {} FROM {} WHERE {}",
            self.columns(),
            self.name,
            self.condition
        ));
        if !after.is_empty() {
            statement.push(&format!(" AND ({key}) > "));
            statement.push_list(after.iter().cloned());
        }
        statement.push(&format!(" ORDER BY {key} LIMIT {}", self.page));
        let rows = connection.fetch_all(statement).await?;
        rows.iter().map(|row| self.values(row)).collect()
    }

    fn values(&self, row: &SqlRow) -> Result<Vec<Value>, sqlx::Error> {
        let values = self.columns.iter().map(|column| {
            Ok(match column {
                Column::Number(name) => Value::Number(row.get(name)?),
                Column::Text(name) => {
                    let text: Option<String> = row.get(name)?;
                    // Postgres text cannot contain NUL.
                    Value::Text(text.map(|text| text.replace('\0', "\u{fffd}")))
                }
            })
        });
        values.collect()
    }

    pub(super) fn key_of(&self, row: &[Value], connection: &Connection) -> Vec<Value> {
        let key = self.key(connection);
        key.iter()
            .filter_map(|name| self.field(row, name).cloned())
            .collect()
    }

    /// The row's partition time, in milliseconds since 1970.
    pub(super) fn time_of(&self, row: &[Value]) -> Option<i64> {
        match self.field(row, self.time?)? {
            Value::Number(ms) => *ms,
            Value::Text(_) => None,
        }
    }

    fn field<'r>(&self, row: &'r [Value], name: &str) -> Option<&'r Value> {
        let place = self.columns.iter().position(|column| column.name() == name)?;
        row.get(place)
    }
}

// === impl Column ===

impl Column {
    fn name(&self) -> &'static str {
        match self {
            Column::Number(name) | Column::Text(name) => name,
        }
    }
}
