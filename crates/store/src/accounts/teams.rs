//! Rows of teams.

use identity::Team;
use types::{TeamId, TenantId};

use super::error::{AccountError, AccountFault, AccountKind};
use super::page::AccountPage;
use super::users::damaged;
use crate::connection::{Connection, SqlRow, Statement};
use crate::page::limit;

pub(super) async fn create(
    connection: &mut Connection,
    tenant: &TenantId,
    team: &TeamId,
    name: &str,
) -> Result<Team, AccountFault> {
    let sql = format!(
        "INSERT INTO teams (tenant, id, name, created_ms) VALUES ($1, $2, $3, {}) \
         ON CONFLICT (tenant, id) DO NOTHING RETURNING *",
        connection.clock()
    );
    // The caller may not have checked the id.
    identity::team_id(team.as_str()).map_err(AccountError::from)?;
    match connection
        .fetch_optional(of(sql, tenant, team).bind(name))
        .await?
    {
        Some(row) => Ok(read(&row)?),
        None => Err(AccountError::exists(AccountKind::Team, team).into()),
    }
}

pub(super) async fn load(
    connection: &mut Connection,
    tenant: &TenantId,
    team: &TeamId,
) -> Result<Option<Team>, AccountFault> {
    let sql = "SELECT * FROM teams WHERE tenant = $1 AND id = $2".to_owned();
    let row = connection.fetch_optional(of(sql, tenant, team)).await?;
    Ok(row.as_ref().map(read).transpose()?)
}

pub(super) async fn all(
    connection: &mut Connection,
    tenant: &TenantId,
    page: AccountPage<'_>,
) -> Result<Vec<Team>, AccountFault> {
    let sql = "SELECT * FROM teams WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT $3";
    let asked = Statement::new(sql)
        .bind(tenant.as_str())
        .bind(page.after.unwrap_or_default())
        .bind(limit(page.limit));
    let rows = connection.fetch_all(asked).await?;
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

pub(super) async fn among(
    connection: &mut Connection,
    tenant: &TenantId,
    teams: &[&TeamId],
) -> Result<Vec<Team>, AccountFault> {
    let mut asked = Statement::new("SELECT * FROM teams WHERE tenant = $1 AND id IN ").bind(tenant.as_str());
    asked.push_list(teams.iter().map(|team| team.as_str()));
    asked.push(" ORDER BY id");
    let rows = connection.fetch_all(asked).await?;
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

pub(super) async fn rename(
    connection: &mut Connection,
    tenant: &TenantId,
    team: &TeamId,
    name: &str,
) -> Result<Team, AccountFault> {
    let sql = "UPDATE teams SET name = $3 WHERE tenant = $1 AND id = $2 RETURNING *".to_owned();
    match connection
        .fetch_optional(of(sql, tenant, team).bind(name))
        .await?
    {
        Some(row) => Ok(read(&row)?),
        None => Err(AccountError::unknown(AccountKind::Team, team).into()),
    }
}

pub(super) async fn delete(
    connection: &mut Connection,
    tenant: &TenantId,
    team: &TeamId,
) -> Result<bool, AccountFault> {
    let sql = "DELETE FROM teams WHERE tenant = $1 AND id = $2".to_owned();
    Ok(connection.execute(of(sql, tenant, team)).await? > 0)
}

fn of(sql: String, tenant: &TenantId, team: &TeamId) -> Statement {
    Statement::new(sql).bind(tenant.as_str()).bind(team.as_str())
}

fn read(row: &SqlRow) -> Result<Team, sqlx::Error> {
    Ok(Team {
        tenant: TenantId::new(row.get::<String>("tenant")?),
        id: identity::team_id(&row.get::<String>("id")?).map_err(damaged)?,
        name: row.get("name")?,
        created_ms: row.get("created_ms")?,
    })
}
