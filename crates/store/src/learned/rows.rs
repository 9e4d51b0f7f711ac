//! Rows of what was learned.

use serde_json::Value;
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection as _, Row as _, SqliteConnection};
use types::Principal;

use super::{DEFINITIONS, Everything, Forget, Mark, Observed, ShapeView, Subject, Written};
use crate::clock::now_ms;
use crate::rows::number;

pub(super) async fn all(connection: &mut SqliteConnection) -> Result<Everything, sqlx::Error> {
    let mut step = connection.begin().await?;
    let forgotten = forgotten(&mut step).await?;
    let rows = sqlx::query("SELECT * FROM learned ORDER BY server, tool, principal, last_ms")
        .fetch_all(&mut *step)
        .await?;
    step.commit().await?;
    Ok(Everything {
        forgotten,
        rows: rows.iter().map(view).collect::<Result<_, _>>()?,
    })
}

pub(super) async fn mark(connection: &mut SqliteConnection) -> Result<Mark, sqlx::Error> {
    let row = sqlx::query(
        "SELECT (SELECT times FROM forgotten) AS times, count(*) AS number, coalesce(sum(calls), 0) AS calls FROM learned",
    )
    .fetch_one(connection)
    .await?;
    Ok(Mark {
        forgotten: row.try_get("times")?,
        rows: row.try_get("number")?,
        calls: row.try_get("calls")?,
    })
}

pub(super) async fn merge<F>(
    connection: &mut SqliteConnection,
    fresh: &[(Subject, F)],
    forgotten: i64,
    merge: fn(Option<Observed>, &F) -> Observed,
) -> Result<Written, sqlx::Error> {
    let mut step = connection.begin_with("BEGIN IMMEDIATE").await?;
    let before = mark(&mut step).await?;
    if before.forgotten != forgotten {
        return Ok(Written::Forgotten);
    }
    let now = now_ms();
    let mut known = Vec::with_capacity(fresh.len());
    for (subject, fresh) in fresh {
        let stored = stored(&mut step, subject).await?;
        let is_new = stored.is_none();
        let both = merge(stored, fresh);
        write(&mut step, subject, &both, now).await?;
        if is_new {
            keep_few(&mut step, subject).await?;
        }
        known.push(both);
    }
    let after = mark(&mut step).await?;
    step.commit().await?;
    Ok(Written::Merged { known, before, after })
}

/// Removes the definitions of a tool that were observed least lately.
async fn keep_few(connection: &mut SqliteConnection, subject: &Subject) -> Result<(), sqlx::Error> {
    sqlx::query(
        "DELETE FROM learned WHERE rowid IN (SELECT rowid FROM learned \
         WHERE principal = ? AND server = ? AND tool = ? ORDER BY last_ms DESC, rowid DESC LIMIT -1 OFFSET ?)",
    )
    .bind(text_of(subject.principal.as_ref()))
    .bind(&subject.server)
    .bind(&subject.tool)
    .bind(number(DEFINITIONS as u64))
    .execute(connection)
    .await?;
    Ok(())
}

/// Bytes of the file that all of it takes, about: a large one has pages of its own.
pub(crate) async fn held(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT coalesce(sum(CASE WHEN length(shape) < 2048 THEN length(shape) + 512 \
         ELSE (length(shape) / 4092 + 1) * 4096 + 768 END), 0) FROM learned",
    )
    .fetch_one(connection)
    .await
}

pub(super) async fn forget(connection: &mut SqliteConnection, what: Forget<'_>) -> Result<u64, sqlx::Error> {
    let mut step = connection.begin_with("BEGIN IMMEDIATE").await?;
    let (condition, names): (&str, Vec<&str>) = match what {
        Forget::All => ("1 = 1", Vec::new()),
        Forget::Server(server) => ("server = ?", vec![server]),
        Forget::Tool(server, tool) => ("server = ? AND tool = ?", vec![server, tool]),
    };
    let count = format!("SELECT count(*) FROM (SELECT DISTINCT server, tool FROM learned WHERE {condition})");
    let mut counted = sqlx::query_scalar::<_, i64>(sqlx::AssertSqlSafe(count));
    let delete = format!("DELETE FROM learned WHERE {condition}");
    let mut deleted = sqlx::query(sqlx::AssertSqlSafe(delete));
    for name in names {
        counted = counted.bind(name);
        deleted = deleted.bind(name);
    }
    let tools = counted.fetch_one(&mut *step).await?;
    deleted.execute(&mut *step).await?;
    // Also if nothing was there: a process may be about to write it.
    sqlx::query("UPDATE forgotten SET times = times + 1")
        .execute(&mut *step)
        .await?;
    step.commit().await?;
    Ok(tools.unsigned_abs())
}

async fn forgotten(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("SELECT times FROM forgotten")
        .fetch_one(connection)
        .await
}

async fn stored(
    connection: &mut SqliteConnection,
    subject: &Subject,
) -> Result<Option<Observed>, sqlx::Error> {
    let row = sqlx::query(
        "SELECT shape, calls, steady FROM learned WHERE principal = ? AND server = ? AND tool = ? AND definition = ?",
    )
    .bind(text_of(subject.principal.as_ref()))
    .bind(&subject.server)
    .bind(&subject.tool)
    .bind(&subject.definition)
    .fetch_optional(connection)
    .await?;
    row.as_ref().map(observed).transpose()
}

async fn write(
    connection: &mut SqliteConnection,
    subject: &Subject,
    observed: &Observed,
    now: i64,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO learned (principal, server, tool, definition, shape, calls, steady, first_ms, last_ms) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) \
         ON CONFLICT (principal, server, tool, definition) DO UPDATE SET shape = excluded.shape, \
         calls = excluded.calls, steady = excluded.steady, last_ms = excluded.last_ms",
    )
    .bind(text_of(subject.principal.as_ref()))
    .bind(&subject.server)
    .bind(&subject.tool)
    .bind(&subject.definition)
    .bind(observed.shape.to_string())
    .bind(number(observed.calls))
    .bind(number(observed.steady))
    .bind(now)
    .bind(now)
    .execute(connection)
    .await?;
    Ok(())
}

/// The text of whose calls were observed; empty where principals share what is learned.
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

fn view(row: &SqliteRow) -> Result<ShapeView, sqlx::Error> {
    Ok(ShapeView {
        subject: Subject {
            principal: principal(row.try_get("principal")?)?,
            server: row.try_get("server")?,
            tool: row.try_get("tool")?,
            definition: row.try_get("definition")?,
        },
        observed: observed(row)?,
        first_ms: row.try_get("first_ms")?,
        last_ms: row.try_get("last_ms")?,
    })
}

fn observed(row: &SqliteRow) -> Result<Observed, sqlx::Error> {
    let shape: String = row.try_get("shape")?;
    Ok(Observed {
        // Somebody may have changed the file by other means: then nothing is known of it.
        shape: serde_json::from_str(&shape).unwrap_or_else(|_| Value::Object(serde_json::Map::new())),
        calls: row.try_get::<i64, _>("calls")?.unsigned_abs(),
        steady: row.try_get::<i64, _>("steady")?.unsigned_abs(),
    })
}
