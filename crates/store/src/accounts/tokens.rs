//! Rows of API tokens.

use std::collections::BTreeSet;

use identity::{ApiToken, Grant, PermissionSet, Role, TokenHash, TokenId, TokenTeams};
use types::{Principal, TeamId, TenantId};

use super::error::{AccountError, AccountFault, AccountKind};
use super::members;
use super::users::{self, damaged, of, principal};
use crate::connection::{Connection, SqlRow, Statement};
use crate::page::limit;

/// Maximum number of a user's tokens. New tokens replace the oldest invalid tokens.
pub const MAX_TOKENS: u32 = 1000;

/// A token's columns, as the rest of the code reads them.
pub(super) const COLUMNS: &str = "tokens.id, tokens.tenant, tokens.email, tokens.name, tokens.role, tokens.teams, \
    tokens.scopes, tokens.created_ms, tokens.made_by, tokens.expires_ms, tokens.revoked_ms, tokens.last_used_ms";

/// A token to be stored.
#[derive(Debug, Clone, Copy)]
pub struct NewToken<'a> {
    /// Hash of the secret, which is shown once.
    pub hash: &'a TokenHash,
    /// Its name in lists and commands.
    pub id: &'a TokenId,
    /// The token's grant.
    pub grant: &'a Grant,
    /// The token of the request; `None` for the command line.
    pub made_by: Option<&'a TokenId>,
}

/// The users whose tokens are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokensOf<'a> {
    /// One user's.
    User(&'a Principal),
    /// All users of a tenant.
    Tenant(&'a TenantId),
}

/// The end of a page of tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenCursor {
    /// Milliseconds since 1970, in UTC.
    pub created_ms: i64,
    /// Orders tokens of one millisecond.
    pub id: TokenId,
}

// === impl TokenCursor ===

impl TokenCursor {
    /// The cursor after this token.
    pub fn after(token: &ApiToken) -> TokenCursor {
        TokenCursor {
            created_ms: token.created_ms,
            id: token.id.clone(),
        }
    }
}

/// Begins a transaction during which no other process creates or revokes a token of this user.
pub(super) async fn begin(connection: &mut Connection, owner: &Principal) -> Result<(), sqlx::Error> {
    connection.begin_alone(&format!("codeyard: tokens {owner}")).await
}

/// Stores a token within the transaction of `begin`.
pub(super) async fn create(
    connection: &mut Connection,
    token: NewToken<'_>,
) -> Result<ApiToken, AccountFault> {
    let grant = token.grant;
    let now = Statement::new(format!("SELECT {} AS value", connection.clock()));
    let now_ms: i64 = connection.fetch_value(now).await?;
    grant.check(now_ms).map_err(AccountError::from)?;
    check_owner(connection, grant).await?;
    if let Some(maker) = token.made_by {
        check_maker(connection, grant.owner.tenant(), maker).await?;
    }
    make_room(connection, &grant.owner, now_ms).await?;
    let sql = format!(
        "INSERT INTO tokens (tenant, email, hash, id, name, role, teams, scopes, created_ms, made_by, expires_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING {COLUMNS}"
    );
    let insert = of(sql, &grant.owner)
        .bind(token.hash.to_hex())
        .bind(token.id.as_str())
        .bind(grant.name.as_deref())
        .bind(grant.role.name())
        .bind(written_teams(&grant.teams))
        .bind(grant.scopes.map(|scopes| scopes.to_string()))
        .bind(now_ms)
        .bind(token.made_by.map(TokenId::as_str))
        .bind(grant.expires_ms);
    Ok(read(&connection.fetch_one(insert).await?)?)
}

/// Refuses a token whose maker, a token or a sign-on, has ended.
async fn check_maker(
    connection: &mut Connection,
    tenant: &TenantId,
    maker: &TokenId,
) -> Result<(), AccountFault> {
    // Keeps a report from ending the sign-on before the new token is stored, which the report would miss.
    let lock = match connection.is_postgres() {
        true => " FOR SHARE",
        false => "",
    };
    for sql in [
        "SELECT 1 AS value FROM tokens WHERE tenant = $1 AND id = $2 AND revoked_ms IS NULL".to_owned(),
        format!("SELECT 1 AS value FROM sign_ons WHERE tenant = $1 AND id = $2 AND ended_ms IS NULL{lock}"),
    ] {
        let asked = Statement::new(sql).bind(tenant.as_str()).bind(maker.as_str());
        if connection.fetch_optional(asked).await?.is_some() {
            return Ok(());
        }
    }
    Err(AccountError::MakerRevoked.into())
}

/// Refuses a token of an unknown user, or for a team that the user is not in.
async fn check_owner(connection: &mut Connection, grant: &Grant) -> Result<(), AccountFault> {
    let Some(user) = users::load(connection, &grant.owner).await? else {
        return Err(AccountError::unknown(AccountKind::User, grant.owner.user()).into());
    };
    let TokenTeams::Only(teams) = &grant.teams else {
        return Ok(());
    };
    let known: BTreeSet<TeamId> = match user.role {
        Role::PlatformAdmin => existing(connection, grant.owner.tenant(), teams).await?,
        _ => {
            let own = members::of_user(connection, &grant.owner).await?;
            own.into_iter().map(|membership| membership.team).collect()
        }
    };
    match teams.iter().find(|team| !known.contains(*team)) {
        None => Ok(()),
        Some(team) if user.role == Role::PlatformAdmin => {
            Err(AccountError::unknown(AccountKind::Team, team).into())
        }
        Some(team) => Err(AccountError::NotMember {
            user: grant.owner.user().to_string(),
            team: team.clone(),
        }
        .into()),
    }
}

async fn existing(
    connection: &mut Connection,
    tenant: &TenantId,
    teams: &BTreeSet<TeamId>,
) -> Result<BTreeSet<TeamId>, sqlx::Error> {
    let mut asked = Statement::new("SELECT id FROM teams WHERE tenant = $1 AND id IN ").bind(tenant.as_str());
    asked.push_list(teams.iter().map(TeamId::as_str));
    let rows = connection.fetch_all(asked).await?;
    rows.iter()
        .map(|row| Ok(TeamId::new(row.get::<String>("id")?)))
        .collect()
}

/// Removes the oldest invalid tokens until one more fits.
async fn make_room(connection: &mut Connection, owner: &Principal, now_ms: i64) -> Result<(), AccountFault> {
    let count = "SELECT count(*) AS value FROM tokens WHERE tenant = $1 AND email = $2".to_owned();
    let count: i64 = connection.fetch_value(of(count, owner)).await?;
    let surplus = count + 1 - i64::from(MAX_TOKENS);
    if surplus <= 0 {
        return Ok(());
    }
    let sql = "DELETE FROM tokens WHERE id IN (SELECT id FROM tokens WHERE tenant = $1 AND email = $2 \
         AND (revoked_ms IS NOT NULL OR expires_ms <= $3) ORDER BY created_ms, id LIMIT $4)";
    let removed = connection
        .execute(of(sql.to_owned(), owner).bind(now_ms).bind(surplus))
        .await?;
    match removed.cast_signed() >= surplus {
        true => Ok(()),
        false => Err(AccountError::TooMany(MAX_TOKENS).into()),
    }
}

pub(super) async fn load(
    connection: &mut Connection,
    tenant: &TenantId,
    id: &TokenId,
) -> Result<Option<ApiToken>, AccountFault> {
    let sql = format!("SELECT {COLUMNS} FROM tokens WHERE tenant = $1 AND id = $2");
    let asked = Statement::new(sql).bind(tenant.as_str()).bind(id.as_str());
    let row = connection.fetch_optional(asked).await?;
    Ok(row.as_ref().map(read).transpose()?)
}

pub(super) async fn all(
    connection: &mut Connection,
    whose: TokensOf<'_>,
    after: Option<&TokenCursor>,
    asked: u32,
) -> Result<Vec<ApiToken>, AccountFault> {
    let mut statement = Statement::new(format!("SELECT {COLUMNS} FROM tokens WHERE tenant = "));
    match whose {
        TokensOf::Tenant(tenant) => statement.push_bind(tenant.as_str()),
        TokensOf::User(user) => statement
            .push_bind(user.tenant().as_str())
            .push(" AND email = ")
            .push_bind(user.user().as_str()),
    };
    if let Some(after) = after {
        statement
            .push(" AND (created_ms, id) < (")
            .push_bind(after.created_ms);
        statement.push(", ").push_bind(after.id.as_str()).push(")");
    }
    statement
        .push(" ORDER BY created_ms DESC, id DESC LIMIT ")
        .push_bind(limit(asked));
    let rows = connection.fetch_all(statement).await?;
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

/// Revokes a token and its family within the transaction of `begin`. Returns the number of tokens that were valid.
pub(super) async fn revoke(connection: &mut Connection, token: &ApiToken) -> Result<u64, sqlx::Error> {
    let sql = format!(
        "WITH RECURSIVE family (id) AS (SELECT id FROM tokens WHERE tenant = $1 AND id = $3 \
         UNION SELECT tokens.id FROM tokens \
         JOIN family ON tokens.made_by = family.id WHERE tokens.tenant = $1 AND tokens.email = $2) \
         UPDATE tokens SET revoked_ms = {} \
         WHERE tenant = $1 AND email = $2 AND revoked_ms IS NULL AND id IN (SELECT id FROM family)",
        connection.clock()
    );
    connection
        .execute(of(sql, &token.grant.owner).bind(token.id.as_str()))
        .await
}

fn written_teams(teams: &TokenTeams) -> Option<String> {
    match teams {
        TokenTeams::Unrestricted => None,
        TokenTeams::Only(teams) => {
            let ids: Vec<&str> = teams.iter().map(TeamId::as_str).collect();
            Some(ids.join(" "))
        }
    }
}

pub(super) fn read(row: &SqlRow) -> Result<ApiToken, sqlx::Error> {
    let id =
        |text: &str| TokenId::read(text).ok_or_else(|| sqlx::Error::Decode("not the id of a token".into()));
    let scopes: Option<String> = row.get("scopes")?;
    let scopes = scopes.map(|scopes| PermissionSet::read(&scopes)).transpose();
    let made_by: Option<String> = row.get("made_by")?;
    Ok(ApiToken {
        id: id(&row.get::<String>("id")?)?,
        grant: Grant {
            owner: principal(row)?,
            name: row.get("name")?,
            role: users::role(row, "role")?,
            teams: read_teams(row.get("teams")?)?,
            scopes: scopes.map_err(damaged)?,
            expires_ms: row.get("expires_ms")?,
        },
        created_ms: row.get("created_ms")?,
        made_by: made_by.as_deref().map(id).transpose()?,
        revoked_ms: row.get("revoked_ms")?,
        last_used_ms: row.get("last_used_ms")?,
    })
}

fn read_teams(written: Option<String>) -> Result<TokenTeams, sqlx::Error> {
    let Some(written) = written else {
        return Ok(TokenTeams::Unrestricted);
    };
    let ids = written.split_ascii_whitespace().map(identity::team_id);
    Ok(TokenTeams::Only(ids.collect::<Result<_, _>>().map_err(damaged)?))
}
