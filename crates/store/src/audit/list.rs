//! Lists of rows, newest first.

use types::TenantId;

use super::actor::BY_AGENT;
use super::entry::AuditRow;
use crate::connection::{Connection, Statement};
use crate::page::limit;

/// Selects rows of a tenant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// The actor: a user's address, or [`super::COMMAND_LINE`].
    pub actor: Option<String>,
    /// A word of [`identity::AuditAction`].
    pub action: Option<String>,
    /// Earliest time, in milliseconds since 1970.
    pub from_ms: Option<i64>,
    /// End of the time range, exclusive, in milliseconds since 1970.
    pub until_ms: Option<i64>,
    /// The sequence number of the previous page's last row.
    pub before: Option<i64>,
    /// Maximum number of rows, 1 to 1000.
    pub limit: u32,
}

pub(super) async fn select(
    connection: &mut Connection,
    tenant: &TenantId,
    filter: &AuditFilter,
) -> Result<Vec<AuditRow>, sqlx::Error> {
    let mut query = Statement::new("SELECT * FROM audit WHERE tenant = ");
    query.push_bind(tenant.as_str());
    if let Some(actor) = &filter.actor {
        // Also what agents did for a user.
        let by_agent = format!("{actor}{BY_AGENT}");
        query.push(" AND (actor = ").push_bind(actor.as_str());
        query
            .push(" OR substr(actor, 1, length(")
            .push_bind(by_agent.as_str());
        query.push(")) = ").push_bind(by_agent.as_str()).push(")");
    }
    if let Some(action) = &filter.action {
        query.push(" AND action = ").push_bind(action.as_str());
    }
    if let Some(from) = filter.from_ms {
        query.push(" AND at_ms >= ").push_bind(from);
    }
    if let Some(until) = filter.until_ms {
        query.push(" AND at_ms < ").push_bind(until);
    }
    if let Some(before) = filter.before {
        query.push(" AND sequence < ").push_bind(before);
    }
    query.push(" ORDER BY sequence DESC LIMIT ");
    query.push_bind(limit(filter.limit));
    let rows = connection.fetch_all(query).await?;
    rows.iter().map(AuditRow::read).collect()
}
