//! A statement in the SQL that both databases support, with its values.

use std::borrow::Cow;
use std::fmt::Write as _;

use sqlx::postgres::{PgArguments, Postgres};
use sqlx::query::Query;
use sqlx::sqlite::{Sqlite, SqliteArguments};
use sqlx::{Arguments as _, AssertSqlSafe, SqlSafeStr as _};

/// SQL with numbered placeholders (`$1`) and their values.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    sql: Cow<'static, str>,
    values: Vec<Value>,
}

/// The value of a placeholder. Postgres also needs the type of a null value.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Number(Option<i64>),
    Text(Option<String>),
}

// === impl Statement ===

impl Statement {
    pub(crate) fn new(sql: impl Into<Cow<'static, str>>) -> Statement {
        Statement {
            sql: sql.into(),
            values: Vec::new(),
        }
    }

    /// Sets the value of the next placeholder.
    pub(crate) fn bind(mut self, value: impl Into<Value>) -> Statement {
        self.values.push(value.into());
        self
    }

    pub(crate) fn push(&mut self, sql: &str) -> &mut Statement {
        self.sql.to_mut().push_str(sql);
        self
    }

    /// Adds a placeholder with its value.
    pub(crate) fn push_bind(&mut self, value: impl Into<Value>) -> &mut Statement {
        self.values.push(value.into());
        // Writing to a string cannot fail.
        let _ = write!(self.sql.to_mut(), "${}", self.values.len());
        self
    }

    /// Adds `(…, …), (…, …)`: one row of values per item.
    pub(crate) fn push_rows<R>(
        &mut self,
        rows: impl IntoIterator<Item = R>,
        values: impl Fn(R) -> Vec<Value>,
    ) -> &mut Statement {
        let mut separator = "VALUES (";
        for row in rows {
            for value in values(row) {
                self.push(separator).push_bind(value);
                separator = ", ";
            }
            separator = "), (";
        }
        self.push(")")
    }

    /// Adds `(…, …)`: the given values.
    pub(crate) fn push_list<V: Into<Value>>(
        &mut self,
        values: impl IntoIterator<Item = V>,
    ) -> &mut Statement {
        let mut separator = "(";
        for value in values {
            self.push(separator).push_bind(value);
            separator = ", ";
        }
        match separator {
            // An empty list becomes a list of NULL, which matches nothing.
            "(" => self.push("(NULL)"),
            _ => self.push(")"),
        }
    }

    pub(crate) fn for_sqlite(self) -> Result<Query<'static, Sqlite, SqliteArguments>, sqlx::Error> {
        let mut arguments = SqliteArguments::default();
        for value in self.values {
            match value {
                Value::Number(number) => arguments.add(number),
                Value::Text(text) => arguments.add(text),
            }
            .map_err(sqlx::Error::Encode)?;
        }
        // Do not cache a statement that was built at run time.
        let is_fixed = matches!(self.sql, Cow::Borrowed(_));
        let sql = match self.sql {
            Cow::Borrowed(sql) => sql.into_sql_str(),
            Cow::Owned(sql) => AssertSqlSafe(unnumbered(&sql).unwrap_or(sql)).into_sql_str(),
        };
        Ok(sqlx::query_with(sql, arguments).persistent(is_fixed))
    }

    pub(crate) fn for_postgres(self) -> Result<Query<'static, Postgres, PgArguments>, sqlx::Error> {
        let mut arguments = PgArguments::default();
        for value in self.values {
            match value {
                Value::Number(number) => arguments.add(number),
                // Postgres text cannot contain NUL.
                Value::Text(text) => arguments.add(text.map(|text| match text.contains('\0') {
                    true => text.replace('\0', "\u{fffd}"),
                    false => text,
                })),
            }
            .map_err(sqlx::Error::Encode)?;
        }
        let sql = AssertSqlSafe(self.sql.into_owned()).into_sql_str();
        Ok(sqlx::query_with(sql, arguments).persistent(false))
    }
}

/// The SQL with `?` in place of `$1`, `$2` and so on; `None` unless each occurs once and in order. SQLite compares each
/// numbered placeholder with all earlier ones, which takes half of the writer's time for the thousands of a batch.
fn unnumbered(sql: &str) -> Option<String> {
    let mut parts = sql.split('$');
    let mut anonymous = parts.next()?.to_owned();
    for (before, part) in parts.enumerate() {
        let rest = part.trim_start_matches(|character: char| character.is_ascii_digit());
        let number = &part[..part.len() - rest.len()];
        if number.parse() != Ok(before + 1) {
            return None;
        }
        anonymous.push('?');
        anonymous.push_str(rest);
    }
    Some(anonymous)
}

// === impl Value ===

impl Value {
    /// A number, a text, or `null`.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match self {
            Value::Number(number) => (*number).into(),
            Value::Text(text) => text.clone().into(),
        }
    }

    /// Reverses `to_json`; `null` becomes a text.
    pub(crate) fn from_json(json: serde_json::Value) -> Value {
        match json {
            serde_json::Value::Number(number) => Value::Number(number.as_i64()),
            serde_json::Value::String(text) => Value::Text(Some(text)),
            _ => Value::Text(None),
        }
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Number(Some(number))
    }
}

impl From<Option<i64>> for Value {
    fn from(number: Option<i64>) -> Value {
        Value::Number(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(Some(text.to_owned()))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(Some(text))
    }
}

impl From<Option<String>> for Value {
    fn from(text: Option<String>) -> Value {
        Value::Text(text)
    }
}

impl From<Option<&str>> for Value {
    fn from(text: Option<&str>) -> Value {
        Value::Text(text.map(ToOwned::to_owned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_numbered_in_the_order_of_their_values() {
        let mut statement = Statement::new("INSERT INTO t (a, b) ");
        statement.push_rows([1, 2], |n| vec![n.into(), "x".into()]);
        statement.push(" RETURNING a IN ").push_list([7, 8]);
        statement.push(" OR b IN ").push_list(Vec::<i64>::new());
        assert_eq!(
            statement.sql,
            "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4) RETURNING a IN ($5, $6) OR b IN (NULL)"
        );
        assert_eq!(statement.values.len(), 6);
    }

    #[test]
    fn placeholders_in_order_need_no_numbers() {
        let check =
            |sql: &str, expected: Option<&str>| assert_eq!(unnumbered(sql).as_deref(), expected, "{sql}");
        check("SELECT 1", Some("SELECT 1"));
        check("VALUES ($1, $2), ($3)", Some("VALUES (?, ?), (?)"));
        for other in ["a = $1 OR b = $1", "$2, $1", "x -> '$.a' = $1", "$"] {
            check(other, None);
        }
    }
}
