//! Rows of one lease.

use types::{Language, SessionName};

use super::{GatewayProcess, Holder, LeaseKey};
use crate::accounts::Moment;
use crate::connection::{Connection, Statement};

pub(super) fn of(sql: &'static str, key: &LeaseKey) -> Statement {
    let statement = Statement::new(sql).bind(key.server.as_str());
    statement.bind(key.principal.to_string())
}

/// The holder of a lease.
pub(super) async fn holder(
    connection: &mut Connection,
    key: &LeaseKey,
    now: Moment,
) -> Result<Option<Holder>, sqlx::Error> {
    let sql = format!(
        "SELECT l.process AS id, p.url AS url, COALESCE(p.expires_ms > {}, FALSE) AS is_alive FROM session_leases l \
         LEFT JOIN gateway_processes p ON p.id = l.process WHERE l.server = $1 AND l.principal = $2",
        now.sql(connection)
    );
    let statement = Statement::new(sql)
        .bind(key.server.as_str())
        .bind(key.principal.to_string());
    let Some(row) = connection.fetch_optional(statement).await? else {
        return Ok(None);
    };
    let url: Option<String> = row.get("url")?;
    let process = GatewayProcess {
        id: row.get("id")?,
        url: url.unwrap_or_default(),
    };
    let is_alive = row.get("is_alive")?;
    Ok(Some(Holder { process, is_alive }))
}

pub(super) async fn grant(
    connection: &mut Connection,
    key: &LeaseKey,
    process: &str,
) -> Result<(), sqlx::Error> {
    let sql = "INSERT INTO session_leases (server, principal, process) VALUES ($1, $2, $3) \
               ON CONFLICT (server, principal) DO UPDATE SET process = excluded.process";
    connection.execute(of(sql, key).bind(process)).await.map(drop)
}

/// Deletes and returns the sessions of the earlier holder.
pub(super) async fn lost_sessions(
    connection: &mut Connection,
    key: &LeaseKey,
) -> Result<Vec<(Language, SessionName)>, sqlx::Error> {
    let sql = "SELECT language, name FROM leased_sessions WHERE server = $1 AND principal = $2";
    let rows = connection.fetch_all(of(sql, key)).await?;
    forget_sessions(connection, key).await?;
    let mut sessions = Vec::with_capacity(rows.len());
    for row in rows {
        let (language, name): (String, String) = (row.get("language")?, row.get("name")?);
        let language = Language::from_name(&language).ok();
        sessions.extend(language.map(|language| (language, SessionName::new(name))));
    }
    Ok(sessions)
}

pub(super) async fn forget_sessions(connection: &mut Connection, key: &LeaseKey) -> Result<(), sqlx::Error> {
    let sql = "DELETE FROM leased_sessions WHERE server = $1 AND principal = $2";
    connection.execute(of(sql, key)).await.map(drop)
}
