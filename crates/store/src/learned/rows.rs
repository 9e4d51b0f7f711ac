//! Rows of observed shapes.

use serde_json::Value;
use types::Principal;

use super::{DEFINITIONS, Everything, Forget, Mark, Observed, ShapeView, Subject, Written};
use crate::clock::now_ms;
use crate::connection::{Connection, SqlRow, Statement};
use crate::rows::number;

/// Name of the lock that is held while observations are merged.
const MERGING: &str = "codeyard: learned";

pub(super) async fn all(connection: &mut Connection) -> Result<Everything, sqlx::Error> {
    connection.begin().await?;
    let forgotten = connection
        .fetch_value(Statement::new("SELECT times AS value FROM forgotten"))
        .await?;
    let sql = "SELECT * FROM learned ORDER BY server, tool, principal, last_ms";
    let rows = connection.fetch_all(Statement::new(sql)).await?;
    connection.commit().await?;
    Ok(Everything {
        forgotten,
        rows: rows.iter().map(view).collect::<Result<_, _>>()?,
    })
}

pub(super) async fn mark(connection: &mut Connection) -> Result<Mark, sqlx::Error> {
    let sql = "SELECT (SELECT times FROM forgotten) AS times, count(*) AS number, \
         CAST(coalesce(sum(calls), 0) AS BIGINT) AS calls FROM learned";
    let row = connection.fetch_one(Statement::new(sql)).await?;
    Ok(Mark {
        forgotten: row.get("times")?,
        rows: row.get("number")?,
        calls: row.get("calls")?,
    })
}

pub(super) async fn merge<F>(
    connection: &mut Connection,
    fresh: &[(Subject, F)],
    forgotten: i64,
    merge: fn(Option<Observed>, &F) -> Observed,
) -> Result<Written, sqlx::Error> {
    connection.begin_alone(MERGING).await?;
    let before = mark(connection).await?;
    if before.forgotten != forgotten {
        return Ok(Written::Forgotten);
    }
    let mut known = Vec::with_capacity(fresh.len());
    for (subject, fresh) in fresh {
        let stored = stored(connection, subject).await?;
        let is_new = stored.is_none();
        let both = merge(stored, fresh);
        let now = match is_new {
            true => later_than_others(connection, subject).await?,
            false => now_ms(),
        };
        write(connection, subject, &both, now).await?;
        if is_new {
            keep_few(connection, subject).await?;
        }
        known.push(both);
    }
    let after = mark(connection).await?;
    connection.commit().await?;
    Ok(Written::Merged { known, before, after })
}

/// Now, or one millisecond after the tool's newest definition, so that the times order the definitions.
async fn later_than_others(connection: &mut Connection, subject: &Subject) -> Result<i64, sqlx::Error> {
    let sql = "SELECT max(last_ms) AS value FROM learned WHERE principal = $1 AND server = $2 AND tool = $3";
    let newest: Option<i64> = connection.fetch_value(of_tool(sql, subject)).await?;
    Ok(newest.map_or(0, |newest| newest + 1).max(now_ms()))
}

fn of_tool(sql: &'static str, subject: &Subject) -> Statement {
    Statement::new(sql)
        .bind(text_of(subject.principal.as_ref()))
        .bind(subject.server.as_str())
        .bind(subject.tool.as_str())
}

/// Keeps the most recently observed definitions of the tool and removes the others.
async fn keep_few(connection: &mut Connection, subject: &Subject) -> Result<(), sqlx::Error> {
    let sql = "DELETE FROM learned WHERE principal = $1 AND server = $2 AND tool = $3 AND definition NOT IN \
         (SELECT definition FROM learned WHERE principal = $1 AND server = $2 AND tool = $3 \
         ORDER BY last_ms DESC LIMIT $4)";
    let statement = of_tool(sql, subject).bind(number(DEFINITIONS as u64));
    connection.execute(statement).await.map(drop)
}

/// Approximate bytes of all observations in the file; a large observation has its own pages.
pub(crate) async fn held(connection: &mut Connection) -> Result<i64, sqlx::Error> {
    let sql = "SELECT CAST(coalesce(sum(CASE WHEN length(shape) < 2048 THEN length(shape) + 512 \
         ELSE (length(shape) / 4092 + 1) * 4096 + 768 END), 0) AS BIGINT) AS value FROM learned";
    connection.fetch_value(Statement::new(sql)).await
}

pub(super) async fn forget(connection: &mut Connection, what: Forget<'_>) -> Result<u64, sqlx::Error> {
    connection.begin_alone(MERGING).await?;
    let (condition, names): (&str, Vec<&str>) = match what {
        Forget::All => ("1 = 1", Vec::new()),
        Forget::Server(server) => ("server = $1", vec![server]),
        Forget::Tool(server, tool) => ("server = $1 AND tool = $2", vec![server, tool]),
    };
    let named = |sql: String| {
        let statement = Statement::new(sql);
        names
            .iter()
            .fold(statement, |statement, name| statement.bind(*name))
    };
    let tools: i64 = connection
        .fetch_value(named(format!(
            "SELECT count(*) AS value FROM (SELECT DISTINCT server, tool FROM learned WHERE {condition}) AS tools"
        )))
        .await?;
    connection
        .execute(named(format!("DELETE FROM learned WHERE {condition}")))
        .await?;
    // Count the request even if no row existed: a process may be about to write.
    connection
        .execute(Statement::new("UPDATE forgotten SET times = times + 1"))
        .await?;
    connection.commit().await?;
    Ok(tools.unsigned_abs())
}

async fn stored(connection: &mut Connection, subject: &Subject) -> Result<Option<Observed>, sqlx::Error> {
    let sql = "SELECT shape, calls, steady FROM learned \
         WHERE principal = $1 AND server = $2 AND tool = $3 AND definition = $4";
    let asked = of_tool(sql, subject).bind(subject.definition.as_str());
    let row = connection.fetch_optional(asked).await?;
    row.as_ref().map(observed).transpose()
}

async fn write(
    connection: &mut Connection,
    subject: &Subject,
    observed: &Observed,
    now: i64,
) -> Result<(), sqlx::Error> {
    let sql = "INSERT INTO learned (principal, server, tool, definition, shape, calls, steady, first_ms, last_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8) \
         ON CONFLICT (principal, server, tool, definition) DO UPDATE SET shape = excluded.shape, \
         calls = excluded.calls, steady = excluded.steady, last_ms = excluded.last_ms";
    let statement = of_tool(sql, subject)
        .bind(subject.definition.as_str())
        .bind(observed.shape.to_string())
        .bind(number(observed.calls))
        .bind(number(observed.steady))
        .bind(now);
    connection.execute(statement).await.map(drop)
}

/// The principal as text; empty if principals share learned shapes.
fn text_of(principal: Option<&Principal>) -> String {
    principal.map(ToString::to_string).unwrap_or_default()
}

fn principal(stored: &str) -> Result<Option<Principal>, sqlx::Error> {
    if stored.is_empty() {
        return Ok(None);
    }
    let principal = stored
        .parse()
        .map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
    Ok(Some(principal))
}

fn view(row: &SqlRow) -> Result<ShapeView, sqlx::Error> {
    Ok(ShapeView {
        subject: Subject {
            principal: principal(&row.get::<String>("principal")?)?,
            server: row.get("server")?,
            tool: row.get("tool")?,
            definition: row.get("definition")?,
        },
        observed: observed(row)?,
        first_ms: row.get("first_ms")?,
        last_ms: row.get("last_ms")?,
    })
}

fn observed(row: &SqlRow) -> Result<Observed, sqlx::Error> {
    let shape: String = row.get("shape")?;
    Ok(Observed {
        // A person may have edited the file; an unreadable shape counts as unknown.
        shape: serde_json::from_str(&shape).unwrap_or_else(|_| Value::Object(serde_json::Map::new())),
        calls: row.get::<i64>("calls")?.unsigned_abs(),
        steady: row.get::<i64>("steady")?.unsigned_abs(),
    })
}
