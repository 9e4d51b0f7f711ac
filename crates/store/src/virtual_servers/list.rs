//! Lists of virtual servers that a viewer may see.

use types::{ServerId, TeamId, TenantId, UserId, VirtualServer, Visibility};

use super::error::ServerFault;
use super::rows::read;
use crate::connection::{Connection, Statement, Value};
use crate::page::limit;

/// Selects virtual servers of a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFilter<'a> {
    /// The viewer of the list.
    pub viewer: ServerViewer<'a>,
    /// A server has one of these tags; an empty list selects servers without tags too.
    pub tags: Vec<String>,
    /// The server's team.
    pub team: Option<TeamId>,
    /// The server's visibility.
    pub visibility: Option<Visibility>,
    /// The end of the previous page.
    pub before: Option<ServerCursor>,
    /// Maximum number of servers, 1 to 1000.
    pub limit: u32,
}

/// The viewer of a list of virtual servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerViewer<'a> {
    /// Sees all servers of the tenant.
    All,
    /// Sees public servers, the servers of some teams, and the user's own.
    Of {
        /// The user.
        user: &'a UserId,
        /// The teams whose servers the user sees.
        teams: Vec<TeamId>,
    },
}

/// The end of a page of virtual servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerCursor {
    /// Milliseconds since 1970, in UTC.
    pub created_ms: i64,
    /// Orders servers of one millisecond.
    pub id: ServerId,
}

// === impl ServerFilter ===

impl<'a> ServerFilter<'a> {
    /// The newest servers that the viewer sees.
    pub fn new(viewer: ServerViewer<'a>, limit: u32) -> ServerFilter<'a> {
        ServerFilter {
            viewer,
            tags: Vec::new(),
            team: None,
            visibility: None,
            before: None,
            limit,
        }
    }
}

// === impl ServerCursor ===

impl ServerCursor {
    /// The cursor after this server.
    pub fn after(server: &VirtualServer) -> ServerCursor {
        ServerCursor {
            created_ms: server.created_ms,
            id: server.id.clone(),
        }
    }
}

pub(super) async fn select(
    connection: &mut Connection,
    tenant: &TenantId,
    filter: &ServerFilter<'_>,
) -> Result<Vec<VirtualServer>, ServerFault> {
    let mut query = Statement::new("SELECT * FROM virtual_servers WHERE tenant = ");
    query.push_bind(tenant.as_str());
    if let ServerViewer::Of { user, teams } = &filter.viewer {
        seen_by(&mut query, user, teams);
    }
    if !filter.tags.is_empty() {
        tagged(&mut query, &filter.tags, connection);
    }
    if let Some(team) = &filter.team {
        query.push(" AND team = ").push_bind(team.as_str());
    }
    if let Some(visibility) = filter.visibility {
        query.push(" AND visibility = ").push_bind(visibility.name());
    }
    if let Some(before) = &filter.before {
        query.push(" AND (created_ms, id) < ");
        query.push_list([before.created_ms.into(), Value::from(before.id.as_str())]);
    }
    query.push(" ORDER BY created_ms DESC, id DESC LIMIT ");
    query.push_bind(limit(filter.limit));
    let rows = connection.fetch_all(query).await?;
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

fn seen_by(query: &mut Statement, user: &UserId, teams: &[TeamId]) {
    query.push(" AND (owner = ").push_bind(user.as_str());
    query
        .push(" OR visibility = ")
        .push_bind(Visibility::Public.name());
    query
        .push(" OR (visibility = ")
        .push_bind(Visibility::Team.name());
    query
        .push(" AND team IN ")
        .push_list(teams.iter().map(TeamId::as_str))
        .push("))");
}

fn tagged(query: &mut Statement, tags: &[String], connection: &Connection) {
    query.push(match connection.is_postgres() {
        true => " AND EXISTS (SELECT 1 FROM json_array_elements_text(CAST(tags AS json)) AS tag (value) WHERE value IN ",
        false => " AND EXISTS (SELECT 1 FROM json_each(tags) AS tag WHERE tag.value IN ",
    });
    query.push_list(tags.iter().map(String::as_str)).push(")");
}
