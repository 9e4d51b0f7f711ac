//! Tables as text that needs fewer tokens than JSON: a line of column names, then one line per row.
//!
//! ```text
//! [3]:
//! id,contact.name,note
//! 1,Ann Lee,"late, twice"
//! 2,Bo,null
//! 3,Cy,
//! ```
//!
//! A cell is a plain string or JSON. Numbers, `true`, `false`, `null`, lists and objects are JSON.
//! A string is quoted as JSON if it is empty, looks like another value, begins or ends with a space, or contains a
//! comma, a quote or a control character. An empty cell means that the row lacks the key.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// Maximum number of columns, and of rows that are searched for columns.
const MOST_COLUMNS: usize = 64;
/// Maximum nesting: records that become columns, and mappings around tables that become lines.
const DEEPEST: usize = 4;
/// Minimum number of rows of a table.
const LEAST_ROWS: usize = 2;

/// The text of a table, or of a mapping that contains tables; `None` for every other value.
pub(crate) fn render(value: &Value) -> Option<String> {
    match value {
        Value::Array(rows) => section("", rows),
        Value::Object(fields) => {
            let mut out = Fields::default();
            out.add("", fields, 0);
            out.has_table.then(|| out.text.trim_end().to_owned())
        }
        _ => None,
    }
}

/// Lines of a mapping. A table follows its key.
#[derive(Debug, Default)]
struct Fields {
    text: String,
    has_table: bool,
}

impl Fields {
    fn add(&mut self, path: &str, fields: &Map<String, Value>, depth: usize) {
        for (name, value) in fields {
            let path = below(path, name);
            match value {
                Value::Array(rows) => match section(&path, rows) {
                    Some(table) => {
                        self.has_table = true;
                        self.line(&table);
                    }
                    None => self.line(&format!("{path}: {value}")),
                },
                Value::Object(inner) if depth < DEEPEST && has_table(inner, depth + 1) => {
                    self.add(&path, inner, depth + 1);
                }
                other => self.line(&format!("{path}: {other}")),
            }
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }
}

fn has_table(fields: &Map<String, Value>, depth: usize) -> bool {
    fields.values().any(|value| match value {
        Value::Array(rows) => section("", rows).is_some(),
        Value::Object(inner) => depth < DEEPEST && has_table(inner, depth + 1),
        _ => false,
    })
}

/// `path[rows]:` and the table; `None` if the rows form no table or their JSON is shorter.
fn section(path: &str, rows: &[Value]) -> Option<String> {
    let records: Vec<&Map<String, Value>> = rows.iter().map(Value::as_object).collect::<Option<_>>()?;
    if records.len() < LEAST_ROWS {
        return None;
    }
    let columns = columns(&records)?;
    let mut table = format!("{path}[{}]:\n", rows.len());
    for (index, column) in columns.iter().enumerate() {
        if index > 0 {
            table.push(',');
        }
        table.push_str(&column.title());
    }
    let mut filled = 0;
    for record in &records {
        table.push('\n');
        for (index, column) in columns.iter().enumerate() {
            if index > 0 {
                table.push(',');
            }
            if let Some(value) = column.of(record) {
                filled += 1;
                write_cell(value, &mut table);
            }
        }
    }
    // Reject sparse tables: rows of mostly empty cells are hard to read.
    let is_dense = filled * 2 >= columns.len() * records.len();
    let json: usize = 2 + rows.iter().map(|row| row.to_string().len() + 1).sum::<usize>();
    (is_dense && table.len() < json).then_some(table)
}

/// The path of keys to a column's cells.
#[derive(Debug, PartialEq, Eq)]
struct Column(Vec<String>);

impl Column {
    fn title(&self) -> String {
        let names = self.0.iter().map(|name| key(name));
        names.collect::<Vec<_>>().join(".")
    }

    fn of<'r>(&self, record: &'r Map<String, Value>) -> Option<&'r Value> {
        let (last, path) = self.0.split_last()?;
        let mut record = record;
        for name in path {
            record = record.get(name)?.as_object()?;
        }
        record.get(last)
    }
}

/// Columns in the order of their keys; `None` for no columns or too many.
fn columns(records: &[&Map<String, Value>]) -> Option<Vec<Column>> {
    let mut columns = Vec::new();
    collect(records, &mut Vec::new(), &mut columns)?;
    (!columns.is_empty()).then_some(columns)
}

fn collect(records: &[&Map<String, Value>], path: &mut Vec<String>, columns: &mut Vec<Column>) -> Option<()> {
    // A map as an ordered set: the values are unused.
    let mut names: Map<String, Value> = Map::new();
    for name in records.iter().flat_map(|record| record.keys()) {
        if !names.contains_key(name) {
            names.insert(name.clone(), Value::Null);
        }
        if names.len() > MOST_COLUMNS {
            return None;
        }
    }
    for (name, _) in names {
        let values: Vec<&Value> = records.iter().filter_map(|record| record.get(&name)).collect();
        let inner: Option<Vec<&Map<String, Value>>> = values.iter().map(|value| value.as_object()).collect();
        path.push(name);
        match inner {
            // An empty record cannot be written as cells.
            Some(inner) if path.len() < DEEPEST && inner.iter().all(|record| !record.is_empty()) => {
                collect(&inner, path, columns)?;
            }
            _ => columns.push(Column(path.clone())),
        }
        path.pop();
        if columns.len() > MOST_COLUMNS {
            return None;
        }
    }
    Some(())
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() {
        key(name)
    } else {
        format!("{path}.{}", key(name))
    }
}

/// A column name, quoted if it would read as another value.
fn key(name: &str) -> String {
    let is_plain = !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | ' ' | '$' | '%' | '#'))
        && name.trim() == name;
    if is_plain {
        name.to_owned()
    } else {
        Value::from(name).to_string()
    }
}

fn write_cell(value: &Value, out: &mut String) {
    match value {
        Value::String(text) if is_plain(text) => out.push_str(text),
        other => {
            // Writing to a string cannot fail.
            let _ = write!(out, "{other}");
        }
    }
}

/// Whether the string, unquoted, can only be read as that string.
fn is_plain(text: &str) -> bool {
    let reads_as_json = matches!(text, "null" | "true" | "false")
        || text.starts_with(['[', '{'])
        || (text.starts_with(|c: char| c.is_ascii_digit() || c == '-') && text.parse::<f64>().is_ok());
    let is_visible =
        |c: char| c != ',' && c != '"' && !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}');
    !text.is_empty() && text.trim() == text && !reads_as_json && text.chars().all(is_visible)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(value: Value, expected: &str) {
        assert_eq!(render(&value).as_deref(), Some(expected));
    }

    #[test]
    fn records_become_rows() {
        check(
            json!([{"id": 1, "name": "Ann"}, {"id": 2, "name": "Bo"}, {"id": 3, "name": "Cy"}]),
            "[3]:\nid,name\n1,Ann\n2,Bo\n3,Cy",
        );
        let contact = |name: &str| json!({"id": name, "contact": {"name": name, "at": {"city": "Oslo"}}});
        check(
            json!([contact("a"), contact("b")]),
            "[2]:\nid,contact.name,contact.at.city\na,a,Oslo\nb,b,Oslo",
        );
        let orders = json!([{"city": "Oslo", "total": 1.5}, {"city": "Rome", "total": 2e20}]);
        check(
            json!({"total": 500, "a.b": "x", "page": {"n": 1, "orders": orders}, "more": [1, 2]}),
            "total: 500\n\"a.b\": \"x\"\npage.n: 1\npage.orders[2]:\ncity,total\nOslo,1.5\nRome,2e+20\nmore: [1,2]",
        );
    }

    #[test]
    fn cells_are_exact() {
        let cells = [
            (json!("plain words"), "plain words"),
            (json!(""), "\"\""),
            (json!(null), "null"),
            (json!("null"), "\"null\""),
            (json!(true), "true"),
            (json!("true"), "\"true\""),
            (json!(0.1), "0.1"),
            (json!("0.1"), "\"0.1\""),
            (json!("1e5"), "\"1e5\""),
            (json!("-"), "-"),
            (json!("2026-11-22"), "2026-11-22"),
            (json!("C-0042"), "C-0042"),
            (json!("a,b"), "\"a,b\""),
            (json!("a|b"), "a|b"),
            (json!("say \"x\""), "\"say \\\"x\\\"\""),
            (json!("two\nlines"), "\"two\\nlines\""),
            (json!("tab\t"), "\"tab\\t\""),
            (json!(" x"), "\" x\""),
            (json!("[1]"), "\"[1]\""),
            (json!([1, "a,b"]), "[1,\"a,b\"]"),
            (json!({}), "{}"),
            (json!("日本"), "日本"),
            (json!("\u{2028}"), "\"\u{2028}\""),
            (json!(18446744073709551615u64), "18446744073709551615"),
        ];
        for (cell, written) in cells {
            check(
                json!([{"first_column": 1, "c": cell, "last_column": 2}, {"first_column": 3, "c": 1, "last_column": 4}]),
                &format!("[2]:\nfirst_column,c,last_column\n1,{written},2\n3,1,4"),
            );
        }
    }

    #[test]
    fn missing_keys_are_empty_cells() {
        check(
            json!([{"number": 1, "note": null}, {"number": 2}, {"number": 3, "note": "", "extra": 1}]),
            "[3]:\nnumber,note,extra\n1,null,\n2,,\n3,\"\",1",
        );
        // A missing record differs from an empty one.
        check(
            json!([{"number": 1, "who": {"name": "a"}}, {"number": 2}]),
            "[2]:\nnumber,who.name\n1,a\n2,",
        );
        check(
            json!([{"number": 1, "who": {"name": "a"}}, {"number": 2, "who": {}}]),
            "[2]:\nnumber,who\n1,{\"name\":\"a\"}\n2,{}",
        );
        check(
            json!([{"a.b": 1, "a b": 2, "": 3}, {"a.b": 1, "a b": 2, "": 3}]),
            "[2]:\n\"a.b\",a b,\"\"\n1,2,3\n1,2,3",
        );
    }

    #[test]
    fn other_values_stay_unchanged() {
        for value in [
            json!([]),
            json!([{"a": 1}]),
            json!([1, 2, 3]),
            json!([{"a": 1}, 2]),
            json!([{}, {}]),
            json!([[1, 2], [3, 4]]),
            json!({"a": 1, "b": [1, 2]}),
            json!("text"),
            // No common keys.
            json!([{"aaaaa": 1}, {"bbbbb": 2}, {"ccccc": 3}]),
        ] {
            assert_eq!(render(&value), None, "{value}");
        }
        let wide: Map<String, Value> = (0..100).map(|n| (format!("key{n}"), json!(n))).collect();
        assert_eq!(render(&json!([wide, wide])), None);
    }
}
