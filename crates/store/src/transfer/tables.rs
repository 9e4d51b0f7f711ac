//! The tables of both databases, with their columns.

use crate::connection::{Connection, SqlRow, Statement, Value};

/// Rows of a page; tables with large rows have fewer.
const PAGE: i64 = 500;
const PAGE_OF_LARGE_ROWS: i64 = 16;

#[derive(Debug)]
pub(super) struct CopiedTable {
    pub(super) name: &'static str,
    columns: &'static [Column],
    /// Unique key, in the order of an index: first of SQLite, then of Postgres.
    key: [&'static [&'static str]; 2],
    /// The column by which Postgres partitions the table; `None` without partitions.
    time: Option<&'static str>,
    /// The column that the database fills with numbers; `None` if no such column exists.
    pub(super) numbered: Option<&'static str>,
    /// Selects the rows to copy, because Postgres may still have rows of a removed run.
    condition: &'static str,
    page: i64,
}

#[derive(Debug)]
enum Column {
    Number(&'static str),
    Text(&'static str),
}

use Column::{Number as N, Text as T};

/// A table without partitions and numbers, all of whose rows are copied.
const PLAIN: CopiedTable = CopiedTable {
    name: "",
    columns: &[],
    key: [&[], &[]],
    time: None,
    numbered: None,
    condition: "1 = 1",
    page: PAGE,
};

const OF_RUN: &str = "EXISTS (SELECT 1 FROM runs WHERE runs.id = run)";

pub(super) static TABLES: [CopiedTable; 25] = [
    CopiedTable {
        name: "processes",
        columns: &[
            N("id"),
            T("host"),
            N("pid"),
            T("version"),
            N("begun_ms"),
            N("lease_ms"),
            N("batch"),
            N("ended_ms"),
            T("ending"),
            N("records"),
        ],
        key: [&["id"], &["id"]],
        time: None,
        numbered: Some("id"),
        condition: "1 = 1",
        page: PAGE,
    },
    CopiedTable {
        name: "sessions",
        columns: &[
            N("process"),
            N("life"),
            T("name"),
            T("principal"),
            T("language"),
            T("backend"),
            T("mode"),
            T("opened_by"),
            N("opened_ms"),
            N("ended_ms"),
            T("ending"),
        ],
        key: [&["process", "life"], &["process", "life"]],
        time: None,
        numbered: None,
        condition: "EXISTS (SELECT 1 FROM processes WHERE processes.id = process)",
        page: PAGE,
    },
    CopiedTable {
        name: "runs",
        columns: &[
            N("seq"),
            T("id"),
            N("process"),
            T("principal"),
            T("front"),
            T("session"),
            N("life"),
            T("language"),
            T("code_hash"),
            N("code_bytes"),
            T("limits"),
            T("backend"),
            T("mode"),
            N("asked_ms"),
            N("ended_ms"),
            N("waited_us"),
            N("duration_us"),
            T("status"),
            T("limit_name"),
            T("error_kind"),
            T("session_fate"),
            N("result_bytes"),
            N("stdout_bytes"),
            N("stderr_bytes"),
            N("host_calls"),
            N("cpu_us"),
            N("peak_memory"),
            T("client"),
            N("searches"),
            N("search_bytes"),
            N("earlier_threads"),
            T("virtual_server"),
            N("writer"),
            N("number"),
            T("execution"),
        ],
        key: [&["seq"], &["seq"]],
        time: Some("asked_ms"),
        numbered: Some("seq"),
        condition: "1 = 1",
        page: PAGE,
    },
    CopiedTable {
        name: "calls",
        columns: &[
            N("seq"),
            T("run"),
            T("server"),
            T("tool"),
            T("shape"),
            T("arguments_hash"),
            N("arguments_bytes"),
            T("arguments"),
            N("begun_ms"),
            N("duration_us"),
            T("outcome"),
            N("result_bytes"),
            T("virtual_server"),
            N("writer"),
            N("number"),
        ],
        key: [&["seq"], &["begun_ms", "seq"]],
        time: Some("begun_ms"),
        numbered: Some("seq"),
        condition: OF_RUN,
        page: PAGE_OF_LARGE_ROWS,
    },
    CopiedTable {
        name: "events",
        columns: &[
            N("seq"),
            N("process"),
            T("run"),
            N("at_ms"),
            T("kind"),
            T("detail"),
            T("virtual_server"),
            N("writer"),
            N("number"),
        ],
        key: [&["seq"], &["at_ms", "seq"]],
        time: Some("at_ms"),
        numbered: Some("seq"),
        condition: "EXISTS (SELECT 1 FROM processes WHERE processes.id = process) \
            AND (run IS NULL OR EXISTS (SELECT 1 FROM runs WHERE runs.id = run))",
        page: PAGE,
    },
    CopiedTable {
        name: "receipts",
        columns: &[
            T("run"),
            N("definitions"),
            N("written"),
            N("read"),
            N("searched"),
            N("direct_definitions"),
            N("direct_tools"),
            N("own"),
            N("asked_ms"),
        ],
        key: [&["run"], &["asked_ms", "run"]],
        time: Some("asked_ms"),
        numbered: None,
        condition: OF_RUN,
        page: PAGE,
    },
    CopiedTable {
        name: "receipt_calls",
        columns: &[
            T("run"),
            T("server"),
            T("tool"),
            N("calls"),
            N("written"),
            N("read"),
            N("asked_ms"),
        ],
        key: [&["run", "server", "tool"], &["asked_ms", "run", "server", "tool"]],
        time: Some("asked_ms"),
        numbered: None,
        condition: OF_RUN,
        page: PAGE,
    },
    CopiedTable {
        name: "saved_tools",
        columns: &[
            N("seq"),
            T("principal"),
            T("name"),
            N("bytes"),
            T("sha256"),
            N("saved_ms"),
            T("run"),
            T("source"),
        ],
        key: [&["seq"], &["seq"]],
        time: None,
        numbered: Some("seq"),
        condition: "1 = 1",
        page: PAGE_OF_LARGE_ROWS,
    },
    CopiedTable {
        name: "memories",
        columns: &[
            N("id"),
            T("principal"),
            T("key"),
            N("version"),
            N("bytes"),
            N("created_ms"),
            N("updated_ms"),
            T("run"),
            T("metadata"),
            T("value"),
        ],
        key: [&["id"], &["id"]],
        time: None,
        numbered: Some("id"),
        condition: "1 = 1",
        page: PAGE_OF_LARGE_ROWS,
    },
    CopiedTable {
        name: "memory_versions",
        columns: &[T("principal"), N("newest")],
        key: [&["principal"], &["principal"]],
        ..PLAIN
    },
    CopiedTable {
        name: "learned",
        columns: &[
            T("principal"),
            T("server"),
            T("tool"),
            T("definition"),
            T("shape"),
            N("calls"),
            N("steady"),
            N("first_ms"),
            N("last_ms"),
        ],
        key: [
            &["principal", "server", "tool", "definition"],
            &["principal", "server", "tool", "definition"],
        ],
        time: None,
        numbered: None,
        condition: "1 = 1",
        page: PAGE_OF_LARGE_ROWS,
    },
    // A membership and a token refer to their user, so users come first.
    CopiedTable {
        name: "users",
        columns: &[
            T("tenant"),
            T("email"),
            T("role"),
            N("created_ms"),
            N("disabled_ms"),
        ],
        key: [&["tenant", "email"], &["tenant", "email"]],
        ..PLAIN
    },
    CopiedTable {
        name: "teams",
        columns: &[T("tenant"), T("id"), T("name"), N("created_ms")],
        key: [&["tenant", "id"], &["tenant", "id"]],
        ..PLAIN
    },
    CopiedTable {
        name: "memberships",
        columns: &[T("tenant"), T("team"), T("email"), T("role"), N("created_ms")],
        key: [&["tenant", "team", "email"], &["tenant", "team", "email"]],
        ..PLAIN
    },
    CopiedTable {
        name: "tokens",
        columns: &[
            T("hash"),
            T("id"),
            T("tenant"),
            T("email"),
            T("name"),
            T("role"),
            T("teams"),
            T("scopes"),
            N("created_ms"),
            T("made_by"),
            N("expires_ms"),
            N("revoked_ms"),
            N("last_used_ms"),
        ],
        key: [&["hash"], &["hash"]],
        ..PLAIN
    },
    CopiedTable {
        name: "virtual_servers",
        columns: &[
            T("id"),
            T("tenant"),
            T("owner"),
            T("name"),
            T("description"),
            T("kind"),
            T("tags"),
            T("visibility"),
            T("team"),
            T("icon"),
            T("code"),
            N("created_ms"),
            N("updated_ms"),
        ],
        key: [&["id"], &["id"]],
        time: None,
        numbered: None,
        condition: "1 = 1",
        page: PAGE_OF_LARGE_ROWS,
    },
    CopiedTable {
        name: "upstream_servers",
        columns: &[
            T("name"),
            T("alias"),
            T("tenant"),
            T("owner"),
            T("visibility"),
            T("team"),
            T("definition"),
            N("created_ms"),
            N("updated_ms"),
        ],
        key: [&["name"], &["name"]],
        time: None,
        numbered: None,
        condition: "1 = 1",
        page: PAGE_OF_LARGE_ROWS,
    },
    CopiedTable {
        name: "rate_grants",
        columns: &[N("seq"), T("key"), N("at_ms"), N("until_ms")],
        key: [&["seq"], &["seq"]],
        time: None,
        numbered: Some("seq"),
        condition: "1 = 1",
        page: PAGE,
    },
    CopiedTable {
        name: "cpu_debts",
        columns: &[T("key"), N("used_us"), N("at_ms")],
        key: [&["key"], &["key"]],
        ..PLAIN
    },
    CopiedTable {
        name: "audit",
        columns: &[
            N("sequence"),
            N("at_ms"),
            T("tenant"),
            T("actor"),
            T("token"),
            T("action"),
            T("object"),
            T("object_id"),
            T("outcome"),
            T("detail"),
            T("previous"),
            T("hash"),
        ],
        key: [&["sequence"], &["sequence"]],
        ..PLAIN
    },
    CopiedTable {
        name: "audit_head",
        columns: &[N("one"), N("sequence"), T("hash")],
        key: [&["one"], &["one"]],
        ..PLAIN
    },
    CopiedTable {
        name: "sinks",
        columns: &[T("name"), T("holder"), N("until_ms"), N("audit")],
        key: [&["name"], &["name"]],
        ..PLAIN
    },
    CopiedTable {
        name: "recordings",
        columns: &[T("run"), T("sealed"), N("asked_ms")],
        key: [&["run"], &["asked_ms", "run"]],
        time: Some("asked_ms"),
        numbered: None,
        condition: OF_RUN,
        page: PAGE_OF_LARGE_ROWS,
    },
    CopiedTable {
        name: "sink_positions",
        columns: &[T("sink"), N("process"), N("number")],
        key: [&["sink", "process"], &["sink", "process"]],
        ..PLAIN
    },
    CopiedTable {
        name: "forgotten",
        columns: &[N("one"), N("times")],
        key: [&["one"], &["one"]],
        ..PLAIN
    },
];

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
