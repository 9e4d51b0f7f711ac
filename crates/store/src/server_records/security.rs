//! Security events of a virtual server: refused runs, denied and failed calls, denied files.

use std::collections::HashSet;
use std::fmt;

use types::ToolRef;

use super::{Place, RunUsers};
use crate::connection::{Connection, SqlRow, Statement, Value};
use crate::lease;
use crate::page::limit;
use crate::reader::status;
use crate::rows::{FILE_DENIED, RUN_REFUSED};

/// The outcome of a call that a policy refused.
const DENIED: &str = "denied";

/// Outcomes of calls that cause no security event; the index's condition has the same list.
const HARMLESS: &str = "('answered', 'in_sandbox', 'cancelled')";

/// Selects security events of a virtual server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecurityFilter {
    /// The users whose runs are selected.
    pub users: RunUsers,
    /// An event has one of these kinds; an empty list selects all events.
    pub kinds: Vec<SecurityKind>,
    /// The tool of the call; excludes all events without a call.
    pub tool: Option<ToolRef>,
    /// Earliest time, in milliseconds since 1970.
    pub from_ms: Option<i64>,
    /// Latest time, exclusive, in milliseconds since 1970.
    pub until_ms: Option<i64>,
    /// The end of the previous page.
    pub before: Option<SecurityCursor>,
    /// Maximum number of events, 1 to 1000.
    pub limit: u32,
}

/// The kind of a security event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SecurityKind {
    /// A run was not started.
    RunRefused,
    /// Files that a run left in its session were denied.
    FileDenied,
    /// A policy refused a call.
    CallDenied,
    /// A call failed for another reason.
    CallFailed,
}

/// The end of a page of security events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityCursor {
    /// Milliseconds since 1970.
    pub at_ms: i64,
    /// [`SecurityRow::id`]; any other text skips all events of this millisecond.
    pub id: String,
}

/// One security event, with its run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityRow {
    /// Unique in the database; orders events of one millisecond.
    pub id: String,
    /// Milliseconds since 1970; the start of a call.
    pub at_ms: i64,
    /// The kind of the event.
    pub kind: SecurityKind,
    /// The reason of a refused run or a denied file, or the outcome of a call.
    pub detail: String,
    /// The tool of a call.
    pub tool: Option<ToolRef>,
    /// The run's handle.
    pub run: String,
    /// The run's status now, as in `RunView`.
    pub run_status: String,
    /// The principal that requested the run.
    pub principal: String,
    /// Name of the run's session.
    pub session: Option<String>,
    /// Time of the request, in milliseconds since 1970.
    pub asked_ms: i64,
}

/// The table of a row. Rows of one millisecond are ordered by table, then by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SecurityTable {
    Calls,
    Events,
}

// === impl SecurityCursor ===

impl SecurityCursor {
    /// The cursor after this event.
    pub fn after(event: &SecurityRow) -> SecurityCursor {
        SecurityCursor {
            at_ms: event.at_ms,
            id: event.id.clone(),
        }
    }

    /// The number of the last row of this source that earlier pages may have shown.
    fn last(&self, source: SecurityTable) -> i64 {
        match SecurityTable::of(&self.id) {
            Some((shown, seq)) if shown == source => seq,
            // Within one millisecond, newest-first lists show events before calls.
            Some((shown, _)) if shown > source => i64::MAX,
            _ => i64::MIN,
        }
    }
}

// === impl SecurityFilter ===

impl SecurityFilter {
    fn selects(&self, kind: SecurityKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}

// === impl SecurityTable ===

impl SecurityTable {
    fn of(id: &str) -> Option<(SecurityTable, i64)> {
        let (source, seq) = id.split_at_checked(1)?;
        let source = match source {
            "c" => SecurityTable::Calls,
            "e" => SecurityTable::Events,
            _ => return None,
        };
        Some((source, seq.parse().ok()?))
    }

    fn table(self) -> &'static str {
        match self {
            SecurityTable::Calls => "calls",
            SecurityTable::Events => "events",
        }
    }

    fn time(self) -> &'static str {
        match self {
            SecurityTable::Calls => "calls.begun_ms",
            SecurityTable::Events => "events.at_ms",
        }
    }
}

impl fmt::Display for SecurityTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SecurityTable::Calls => "c",
            SecurityTable::Events => "e",
        })
    }
}

pub(super) async fn select(
    connection: &mut Connection,
    place: Place<'_>,
    filter: &SecurityFilter,
) -> Result<Vec<SecurityRow>, sqlx::Error> {
    let dead: HashSet<i64> = lease::dead(connection).await?.into_iter().collect();
    let mut found = Vec::new();
    for source in [SecurityTable::Events, SecurityTable::Calls] {
        let Some(query) = query(source, place, filter) else {
            continue;
        };
        for row in connection.fetch_all(query).await? {
            let seq: i64 = row.get("seq")?;
            found.push((
                (row.get::<i64>("at_ms")?, source, seq),
                read(&row, source, seq, &dead)?,
            ));
        }
    }
    found.sort_by(|(one, _), (other, _)| other.cmp(one));
    let most = usize::try_from(limit(filter.limit)).unwrap_or(usize::MAX);
    Ok(found.into_iter().take(most).map(|(_, row)| row).collect())
}

/// The newest rows of one table; `None` if the filter selects none of them.
fn query(source: SecurityTable, place: Place<'_>, filter: &SecurityFilter) -> Option<Statement> {
    let (table, time) = (source.table(), source.time());
    let columns = match source {
        SecurityTable::Calls => "calls.outcome AS kind, calls.outcome AS detail, calls.server, calls.tool",
        SecurityTable::Events => "events.kind, events.detail",
    };
    // SQLite keeps the order of a CROSS JOIN: first the index finds the rows, then each row its run.
    let mut query = Statement::new(format!(
        "SELECT {time} AS at_ms, {table}.seq AS seq, {columns}, runs.id AS run, runs.status, runs.process, \
         runs.principal, runs.session, runs.asked_ms FROM {table} CROSS JOIN runs \
         WHERE runs.id = {table}.run AND {table}.virtual_server = "
    ));
    query.push_bind(place.server.as_str());
    match source {
        SecurityTable::Calls => calls(&mut query, filter)?,
        SecurityTable::Events => events(&mut query, filter)?,
    }
    filter.users.select(&mut query, place.tenant);
    if let Some(from) = filter.from_ms {
        query.push(&format!(" AND {time} >= ")).push_bind(from);
    }
    if let Some(until) = filter.until_ms {
        query.push(&format!(" AND {time} < ")).push_bind(until);
    }
    if let Some(before) = &filter.before {
        query.push(&format!(" AND ({time}, {table}.seq) < "));
        query.push_list([Value::from(before.at_ms), before.last(source).into()]);
    }
    query.push(&format!(" ORDER BY {time} DESC, {table}.seq DESC LIMIT "));
    query.push_bind(limit(filter.limit));
    Some(query)
}

fn calls(query: &mut Statement, filter: &SecurityFilter) -> Option<()> {
    query.push(&format!(" AND calls.outcome NOT IN {HARMLESS}"));
    let kinds = [SecurityKind::CallDenied, SecurityKind::CallFailed];
    match kinds.map(|kind| filter.selects(kind)) {
        [true, true] => {}
        [true, false] => {
            query.push(" AND calls.outcome = ").push_bind(DENIED);
        }
        [false, true] => {
            query.push(" AND calls.outcome <> ").push_bind(DENIED);
        }
        [false, false] => return None,
    }
    if let Some(tool) = &filter.tool {
        query.push(" AND calls.server = ").push_bind(tool.server.as_str());
        query.push(" AND calls.tool = ").push_bind(tool.tool.as_str());
    }
    Some(())
}

fn events(query: &mut Statement, filter: &SecurityFilter) -> Option<()> {
    let kinds = [
        (SecurityKind::RunRefused, RUN_REFUSED),
        (SecurityKind::FileDenied, FILE_DENIED),
    ];
    let mut selected = kinds.into_iter().filter(|(kind, _)| filter.selects(*kind));
    let (first, second) = (selected.next()?, selected.next());
    if filter.tool.is_some() {
        return None;
    }
    // The index's condition has the same list.
    query.push(&format!(" AND events.kind IN ('{RUN_REFUSED}', '{FILE_DENIED}')"));
    if second.is_none() {
        query.push(" AND events.kind = ").push_bind(first.1);
    }
    Some(())
}

fn read(
    row: &SqlRow,
    source: SecurityTable,
    seq: i64,
    dead: &HashSet<i64>,
) -> Result<SecurityRow, sqlx::Error> {
    let kind: String = row.get("kind")?;
    Ok(SecurityRow {
        id: format!("{source}{seq}"),
        at_ms: row.get("at_ms")?,
        kind: match source {
            SecurityTable::Calls if kind == DENIED => SecurityKind::CallDenied,
            SecurityTable::Calls => SecurityKind::CallFailed,
            SecurityTable::Events if kind == FILE_DENIED => SecurityKind::FileDenied,
            SecurityTable::Events => SecurityKind::RunRefused,
        },
        detail: row.get("detail")?,
        tool: match source {
            SecurityTable::Calls => Some(ToolRef {
                server: row.get("server")?,
                tool: row.get("tool")?,
            }),
            SecurityTable::Events => None,
        },
        run: row.get("run")?,
        run_status: status(row, dead)?,
        principal: row.get("principal")?,
        session: row.get("session")?,
        asked_ms: row.get("asked_ms")?,
    })
}
