//! Rows of upstream servers.

use types::{Ownership, TeamId, TenantId, UpstreamServer, UserId, Visibility};

use super::error::{ServerFault, UpstreamServerError};
use super::list::{MOST_SERVERS, UpstreamServerList};
use crate::connection::{Connection, SqlRow, Statement, Value};
use crate::virtual_servers::one_of;

/// Name of the lock that is held while a server is stored, changed or removed.
const CHANGING: &str = "codeyard: upstream servers";

pub(super) async fn all(connection: &mut Connection) -> Result<UpstreamServerList, ServerFault> {
    connection.begin().await?;
    let changes = Statement::new("SELECT times AS value FROM upstream_changes");
    let changes = connection.fetch_value(changes).await?;
    let rows = Statement::new("SELECT * FROM upstream_servers ORDER BY created_ms, name");
    let rows = connection.fetch_all(rows).await?;
    connection.commit().await?;
    Ok(UpstreamServerList {
        changes,
        servers: rows.iter().map(read).collect::<Result<_, _>>()?,
    })
}

/// Stores a server. The transaction stays open, as after [`update`] and [`delete`].
pub(super) async fn create(connection: &mut Connection, server: &UpstreamServer) -> Result<(), ServerFault> {
    connection.begin_alone(CHANGING).await?;
    let count = Statement::new("SELECT count(*) AS value FROM upstream_servers");
    if connection.fetch_value::<i64>(count).await? >= MOST_SERVERS {
        return Err(UpstreamServerError::TooMany.into());
    }
    let ownership = &server.ownership;
    let row: [Value; 9] = [
        server.name.as_str().into(),
        server.alias.as_str().into(),
        ownership.tenant.as_str().into(),
        ownership.owner.as_str().into(),
        ownership.visibility.name().into(),
        ownership.team.as_ref().map(TeamId::as_str).into(),
        server.definition.as_str().into(),
        ownership.created_ms.into(),
        server.updated_ms.into(),
    ];
    let mut insert = Statement::new(
        "INSERT INTO upstream_servers \
         (name, alias, tenant, owner, visibility, team, definition, created_ms, updated_ms) VALUES ",
    );
    insert.push_list(row).push(" ON CONFLICT DO NOTHING");
    match connection.execute(insert).await? {
        0 => Err(UpstreamServerError::NameTaken(server.name.clone()).into()),
        _ => note_change(connection).await,
    }
}

pub(super) async fn update(
    connection: &mut Connection,
    server: &UpstreamServer,
    read_updated_ms: i64,
) -> Result<UpstreamServer, ServerFault> {
    connection.begin_alone(CHANGING).await?;
    let ownership = &server.ownership;
    let select = Statement::new("SELECT * FROM upstream_servers WHERE tenant = $1 AND name = $2")
        .bind(ownership.tenant.as_str())
        .bind(server.name.as_str());
    let Some(old) = connection.fetch_optional(select).await? else {
        return Err(UpstreamServerError::Unknown(server.name.clone()).into());
    };
    let old = read(&old)?;
    if old.updated_ms != read_updated_ms || old.ownership.created_ms != ownership.created_ms {
        return Err(UpstreamServerError::Changed(server.name.clone()).into());
    }
    // Two changes within one millisecond, or after the clock was set back, must differ.
    let updated_ms = server.updated_ms.max(read_updated_ms.saturating_add(1));
    let update = Statement::new(
        "UPDATE upstream_servers SET visibility = $1, team = $2, definition = $3, updated_ms = $4 \
         WHERE name = $5 RETURNING *",
    )
    .bind(ownership.visibility.name())
    .bind(ownership.team.as_ref().map(TeamId::as_str))
    .bind(server.definition.as_str())
    .bind(updated_ms)
    .bind(server.name.as_str());
    let stored = read(&connection.fetch_one(update).await?)?;
    note_change(connection).await?;
    Ok(stored)
}

pub(super) async fn delete(
    connection: &mut Connection,
    tenant: &TenantId,
    name: &str,
    created_ms: i64,
) -> Result<bool, ServerFault> {
    connection.begin_alone(CHANGING).await?;
    let sql = "DELETE FROM upstream_servers WHERE tenant = $1 AND name = $2 AND created_ms = $3";
    let delete = Statement::new(sql)
        .bind(tenant.as_str())
        .bind(name)
        .bind(created_ms);
    let is_removed = connection.execute(delete).await? > 0;
    if is_removed {
        note_change(connection).await?;
    }
    Ok(is_removed)
}

/// Increases the number of changes, which other processes poll.
async fn note_change(connection: &mut Connection) -> Result<(), ServerFault> {
    let noted = Statement::new("UPDATE upstream_changes SET times = times + 1");
    connection.execute(noted).await?;
    Ok(())
}

fn read(row: &SqlRow) -> Result<UpstreamServer, sqlx::Error> {
    let visibility: String = row.get("visibility")?;
    Ok(UpstreamServer {
        name: row.get("name")?,
        alias: row.get("alias")?,
        ownership: Ownership {
            tenant: TenantId::new(row.get::<String>("tenant")?),
            owner: UserId::new(row.get::<String>("owner")?),
            visibility: one_of(&visibility, &Visibility::ALL, Visibility::name)?,
            team: row.get::<Option<String>>("team")?.map(TeamId::new),
            created_ms: row.get("created_ms")?,
        },
        updated_ms: row.get("updated_ms")?,
        definition: row.get("definition")?,
    })
}
