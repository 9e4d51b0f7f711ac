//! Rows of virtual servers.

use types::{ServerId, ServerKind, ServerSettings, TeamId, TenantId, UserId, VirtualServer, Visibility};

use super::code;
use super::error::{ServerFault, VirtualServerError};
use crate::connection::{Connection, SqlRow, Statement, Value};

/// Name of the lock that is held while a server is stored or changed.
const CHANGING: &str = "codeyard: virtual servers";

/// The columns of the settings, in the order of [`values`].
const SETTINGS: [&str; 8] = [
    "name",
    "description",
    "kind",
    "code",
    "tags",
    "visibility",
    "team",
    "icon",
];

/// Begins a transaction, which the caller ends.
pub(super) async fn create(connection: &mut Connection, server: &VirtualServer) -> Result<(), ServerFault> {
    connection.begin_alone(CHANGING).await?;
    refuse_name(connection, server).await?;
    let mut insert = Statement::new(format!(
        "INSERT INTO virtual_servers (id, tenant, owner, created_ms, updated_ms, {}) VALUES ",
        SETTINGS.join(", ")
    ));
    let mut row: Vec<Value> = vec![
        server.id.as_str().into(),
        server.tenant.as_str().into(),
        server.owner.as_str().into(),
        server.created_ms.into(),
        server.updated_ms.into(),
    ];
    row.extend(values(&server.settings)?);
    insert.push_list(row).push(" ON CONFLICT (id) DO NOTHING");
    match connection.execute(insert).await? {
        0 => Err(VirtualServerError::IdTaken(server.id.clone()).into()),
        _ => Ok(()),
    }
}

/// Begins a transaction, which the caller ends.
pub(super) async fn update(
    connection: &mut Connection,
    server: &VirtualServer,
    read_updated_ms: i64,
) -> Result<VirtualServer, ServerFault> {
    connection.begin_alone(CHANGING).await?;
    let Some(old) = load(connection, &server.tenant, &server.id).await? else {
        return Err(VirtualServerError::Unknown(server.id.clone()).into());
    };
    if old.updated_ms != read_updated_ms {
        return Err(VirtualServerError::Changed(server.id.clone()).into());
    }
    refuse_name(connection, server).await?;
    // Two changes within one millisecond, or after the clock was set back, must differ.
    let updated_ms = server.updated_ms.max(read_updated_ms.saturating_add(1));
    let mut update = Statement::new("UPDATE virtual_servers SET updated_ms = ");
    update.push_bind(updated_ms);
    for (column, value) in SETTINGS.iter().zip(values(&server.settings)?) {
        update.push(&format!(", {column} = ")).push_bind(value);
    }
    update.push(" WHERE id = ").push_bind(server.id.as_str());
    update.push(" RETURNING *");
    Ok(read(&connection.fetch_one(update).await?)?)
}

/// Refuses a name that another server of the tenant has.
async fn refuse_name(connection: &mut Connection, server: &VirtualServer) -> Result<(), ServerFault> {
    let sql =
        "SELECT 1 AS value FROM virtual_servers WHERE tenant = $1 AND id <> $2 AND name = $3".to_owned();
    let name = server.settings.name.as_str();
    let asked = of(sql, &server.tenant, &server.id).bind(name);
    match connection.fetch_optional(asked).await? {
        None => Ok(()),
        Some(_) => Err(VirtualServerError::NameTaken(name.to_owned()).into()),
    }
}

pub(super) async fn load(
    connection: &mut Connection,
    tenant: &TenantId,
    id: &ServerId,
) -> Result<Option<VirtualServer>, ServerFault> {
    let sql = "SELECT * FROM virtual_servers WHERE tenant = $1 AND id = $2".to_owned();
    let row = connection.fetch_optional(of(sql, tenant, id)).await?;
    Ok(row.as_ref().map(read).transpose()?)
}

/// Begins a transaction, which the caller ends.
pub(super) async fn delete(
    connection: &mut Connection,
    tenant: &TenantId,
    id: &ServerId,
) -> Result<bool, ServerFault> {
    connection.begin_to_write().await?;
    let sql = "DELETE FROM virtual_servers WHERE tenant = $1 AND id = $2".to_owned();
    Ok(connection.execute(of(sql, tenant, id)).await? > 0)
}

fn of(sql: String, tenant: &TenantId, id: &ServerId) -> Statement {
    Statement::new(sql).bind(tenant.as_str()).bind(id.as_str())
}

/// In the order of `SETTINGS`.
fn values(settings: &ServerSettings) -> Result<[Value; 8], sqlx::Error> {
    // A new setting must have a column before this compiles.
    let ServerSettings {
        name,
        description,
        kind,
        tags,
        visibility,
        team,
        icon,
    } = settings;
    // Postgres cannot read NUL in JSON.
    let tags: Vec<String> = tags.iter().map(|tag| tag.replace('\0', "\u{fffd}")).collect();
    Ok([
        name.as_str().into(),
        description.as_deref().into(),
        kind.name().into(),
        kind.code().map(code::write).transpose()?.into(),
        serde_json::to_string(&tags).map_err(damaged)?.into(),
        visibility.name().into(),
        team.as_ref().map(TeamId::as_str).into(),
        icon.as_deref().into(),
    ])
}

pub(super) fn read(row: &SqlRow) -> Result<VirtualServer, sqlx::Error> {
    let visibility: String = row.get("visibility")?;
    let tags: String = row.get("tags")?;
    Ok(VirtualServer {
        id: ServerId::new(row.get::<String>("id")?),
        tenant: TenantId::new(row.get::<String>("tenant")?),
        owner: UserId::new(row.get::<String>("owner")?),
        created_ms: row.get("created_ms")?,
        updated_ms: row.get("updated_ms")?,
        settings: ServerSettings {
            name: row.get("name")?,
            description: row.get("description")?,
            kind: kind(&row.get::<String>("kind")?, row.get("code")?)?,
            tags: serde_json::from_str(&tags).map_err(damaged)?,
            visibility: one_of(&visibility, &Visibility::ALL, Visibility::name)?,
            team: row.get::<Option<String>>("team")?.map(TeamId::new),
            icon: row.get("icon")?,
        },
    })
}

fn kind(name: &str, code: Option<String>) -> Result<ServerKind, sqlx::Error> {
    let kind = match code {
        Some(code) => ServerKind::CodeExecution(Box::new(code::read(&code)?)),
        None => ServerKind::Standard,
    };
    match kind.name() == name {
        true => Ok(kind),
        false => Err(damaged(format!("the settings are not of the kind '{name}'"))),
    }
}

/// The value with this name.
pub(crate) fn one_of<T: Copy>(
    name: &str,
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
) -> Result<T, sqlx::Error> {
    let found = all.iter().copied().find(|value| name_of(*value) == name);
    found.ok_or_else(|| damaged(format!("unknown word '{}'", name.escape_debug())))
}

/// An unreadable row; a person or a newer codeyard may have written it.
pub(super) fn damaged(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> sqlx::Error {
    sqlx::Error::Decode(error.into())
}
