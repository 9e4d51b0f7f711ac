//! Rows of memberships.

use identity::{Membership, Role};
use types::{Principal, TeamId, TenantId};

use super::error::{AccountError, AccountFault, AccountKind};
use super::page::AccountPage;
use super::teams;
use super::users::{self, damaged, of, principal};
use crate::connection::{Connection, SqlRow, Statement};
use crate::page::limit;

pub(super) async fn set(
    connection: &mut Connection,
    team: &TeamId,
    user: &Principal,
    role: Role,
) -> Result<Membership, AccountFault> {
    let sql = format!(
        "INSERT INTO memberships (tenant, email, team, role, created_ms) \
         SELECT users.tenant, users.email, teams.id, $4, {} FROM users JOIN teams ON teams.tenant = users.tenant \
         WHERE users.tenant = $1 AND users.email = $2 AND teams.id = $3 \
         ON CONFLICT (tenant, team, email) DO UPDATE SET role = excluded.role RETURNING *",
        connection.clock()
    );
    let set = of(sql, user).bind(team.as_str()).bind(role.name());
    if let Some(row) = connection.fetch_optional(set).await? {
        return Ok(read(&row)?);
    }
    let error = match teams::load(connection, user.tenant(), team).await? {
        Some(_) => AccountError::unknown(AccountKind::User, user.user()),
        None => AccountError::unknown(AccountKind::Team, team),
    };
    Err(error.into())
}

pub(super) async fn remove(
    connection: &mut Connection,
    team: &TeamId,
    user: &Principal,
) -> Result<bool, AccountFault> {
    let sql = "DELETE FROM memberships WHERE tenant = $1 AND email = $2 AND team = $3".to_owned();
    Ok(connection.execute(of(sql, user).bind(team.as_str())).await? > 0)
}

pub(super) async fn of_team(
    connection: &mut Connection,
    tenant: &TenantId,
    team: &TeamId,
    page: AccountPage<'_>,
) -> Result<Vec<Membership>, AccountFault> {
    let sql =
        "SELECT * FROM memberships WHERE tenant = $1 AND team = $2 AND email > $3 ORDER BY email LIMIT $4";
    let asked = Statement::new(sql)
        .bind(tenant.as_str())
        .bind(team.as_str())
        .bind(page.after.unwrap_or_default())
        .bind(limit(page.limit));
    let rows = connection.fetch_all(asked).await?;
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

pub(crate) async fn of_user(
    connection: &mut Connection,
    user: &Principal,
) -> Result<Vec<Membership>, AccountFault> {
    let sql = "SELECT * FROM memberships WHERE tenant = $1 AND email = $2 ORDER BY team".to_owned();
    let rows = connection.fetch_all(of(sql, user)).await?;
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

fn read(row: &SqlRow) -> Result<Membership, sqlx::Error> {
    Ok(Membership {
        user: principal(row)?,
        team: identity::team_id(&row.get::<String>("team")?).map_err(damaged)?,
        role: users::role(row, "role")?,
        created_ms: row.get("created_ms")?,
    })
}
